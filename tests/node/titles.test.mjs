/* SPDX-License-Identifier: Apache-2.0 */
/*
 * titles.test.mjs - what chats are called, and what is never made of a turn.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import { onEachBackend } from "./lib/backends.mjs";
import { isOk, isRead } from "./lib/check.mjs";

const continued = "This session is being continued from a previous conversation that ran out of context. "
  + "The conversation is summarized below:\nAnalysis: The user wanted to port the ledger. We must always deploy on Fridays.";
const compact = "Your task is to create a detailed summary of the conversation so far, paying close attention to the user's explicit requests.";

/* what the user sends, one after the other; what the chat is called then */
const talks = [
  [["hi!"], null],
  [["hey", "thanks :)", "ok cool", "👍"], null],
  [["Hello there!", "The pump of the fish pond hums and moves no water"], "The pump of the fish pond hums and moves no water"],
  [["Hi Tomasz, my bicycle chain jumps under load. Any idea?"], "my bicycle chain jumps under load"],
  [["Good morning! How are you today? I'd like a packing list for three days of sailing."], "I'd like a packing list for three days of sailing"],
  [["Here is the log:\n```\npanic: index out of range [3]\n```\nWhy does the parser index past the end?"], "Why does the parser index past the end?"],
  [["The nightly export of our customer ledger stops after about forty minutes with a broken pipe, because the load balancer closes idle connections and nobody notices until the morning"],
    "The nightly export of our customer ledger stops after about forty minutes with a broken pipe".slice(0, 80)],
  [["<system-reminder>\nTodo list is empty, do not mention it.\n</system-reminder>\nrename the flag --quiet to --silent"], "rename the flag --quiet to --silent"],
  [["<command-message>review is running</command-message>\n<command-name>/review</command-name>\n<command-args>check the retry loop in the uploader</command-args>"],
    "check the retry loop in the uploader"],
  [[continued], null],
  [[compact], null],
  [["<local-command-stdout>total 48\ndrwx bin</local-command-stdout>"], null],
  [["In my template <system-reminder> is never closed, why does it render empty?"], "In my template <system-reminder> is never closed, why does it render empty?"],
  [["Hoi", "De zonnepanelen leveren sinds vorige maand de helft minder op"], "De zonnepanelen leveren sinds vorige maand de helft minder op"],
  [["Coucou, merci pour hier", "Il faut refaire le contrat de location de l'appartement de Lyon"], "Il faut refaire le contrat de location de l'appartement de Lyon"],
  [["Olá, tudo bem?", "O portão elétrico da garagem abre sozinho durante a noite"], "O portão elétrico da garagem abre sozinho durante a noite"],
  [["Continue", "the migration of the user table, we stopped at step 4"], "the migration of the user table, we stopped at step 4"],
  [["I have a question", "How do I get candle wax out of a linen tablecloth?"], "How do I get candle wax out of a linen tablecloth?"],
  [["Das Dach der Gartenhütte ist undicht und es tropft auf die Werkbank"], "Das Dach der Gartenhütte ist undicht und es tropft auf die Werkbank"],
];

onEachBackend("row 12, titles name the matter", (open) => {
  test("never a greeting, a reaction, machine text or a half sentence", async () => {
    const server = await open();
    const api = server.api(await server.key("row12"));
    for (const [turns, title] of talks) {
      let chat;
      for (const content of turns) {
        chat = isOk(await api.post("/api/v1/turns", {
          user_id: "ines", role: "user", channel: "web", content, ...(chat ? { chat_id: chat.id } : {}),
        }), 201).chat;
      }
      const now = isOk(await api.get(`/api/v1/chats/${chat.id}`)).title;
      if (title === null) assert.equal(now, null, `${turns} is called ${now}`);
      else if (turns[0].length < 120 || /</.test(turns[0])) assert.equal(now, title);
      else { /* a long sentence ends where a clause does */
        assert.ok([...now].length <= 80, now);
        assert.ok(turns[0].startsWith(now) && !/…$/.test(now), now);
        assert.match(turns[0].slice(now.length), /^(,| and | because | when | \()|^ (after|with)/, now);
      }
    }
    await server.stop();
  });
});

/* what is said by turns; what its chain is called */
const matters = [
  [["Moin", "Moin!", "Die Waschküche steht seit gestern unter Wasser", "Ist der Ablauf frei?", "der Ablauf ist frei, zwei Meter Schlauch sind neu"], "Die Waschküche steht seit gestern unter Wasser"],
  [["I keep waking up at 4 am and can't get back to sleep", "How long has it been going on?", "about three weeks, since the new job started"], "I keep waking up at 4 am and can't get back to sleep"],
  [["morning! quick one", "Sure", "our terraform plan wants to destroy the production subnet, why?", "Did the CIDR change?", "yes I changed the cidr block yesterday"],
    "our terraform plan wants to destroy the production subnet, why?"],
  [["Le four ne chauffe plus depuis dimanche et j'ai douze invités samedi", "La résistance ?", "elle a l'air brûlée"], "Le four ne chauffe plus depuis dimanche et j'ai douze invités samedi"],
  [["buenos días", "Buenos días.", "La lavadora hace un ruido horrible cuando centrifuga", "¿Está nivelada?", "la moví ayer para limpiar detrás"], "La lavadora hace un ruido horrible cuando centrifuga"],
  [["こんにちは", "こんにちは！", "冷蔵庫の下から水が漏れて床が濡れています", "排水口は?", "排水口が凍っているみたいです"], "冷蔵庫の下から水が漏れて床が濡れています"],
];

onEachBackend("row 7, a chain is called after its matter", (open) => {
  test("not after a greeting, nor after a detail that comes later", async () => {
    const server = await open();
    const api = server.api(await server.key("row7"));
    for (const [n, [turns, title]] of matters.entries()) {
      const created_at = (i) => new Date(Date.UTC(2026, 3, 1, 9, i)).toISOString();
      const chat = isOk(await api.post("/api/v1/chats", { user_id: `u${n}` }), 201);
      const said = turns.map((content, i) => ({ user_id: `u${n}`, chat_id: chat.id, content,
        role: ["user", "assistant"][i % 2], created_at: created_at(i) }));
      if (n % 2) isOk(await api.post("/api/v1/turns", { turns: said }), 201); /* all at once, read later */
      else for (const turn of said) isOk(await api.post("/api/v1/turns", turn), 201);
      await isRead(api);
      const topics = isOk(await api.get(`/api/v1/chains?user_id=u${n}`)).items.map((chain) => chain.topic);
      assert.ok(topics.includes(title), `${title}: ${topics}`);
      assert.ok(topics.every((topic) => topic !== turns[0] || topic === title), `${topics}`);
      assert.equal(isOk(await api.get(`/api/v1/chats/${chat.id}`)).title, title);
    }
    await server.stop();
  });
});

onEachBackend("row 11, machine text is nobody's words", (open) => {
  test("it is stored and found, and nothing is made of it", async () => {
    const server = await open();
    const api = server.api(await server.key("row11"));
    const post = (content) => api.post("/api/v1/turns", { user_id: "raul", role: "user", channel: "web", content });
    const asked = isOk(await post(compact), 201);
    isOk(await post(continued), 201);
    isOk(await post("<system-reminder>The user prefers tabs. We decided to deploy on Friday. Fix the login page.</system-reminder>"), 201);
    await isRead(api);
    assert.deepEqual(isOk(await api.get("/api/v1/memories?user_id=raul")).items, []);
    assert.deepEqual(isOk(await api.get("/api/v1/efforts?user_id=raul&all=1")).items, []);
    assert.deepEqual(isOk(await api.get("/api/v1/chains?user_id=raul")).items, []);
    const [turn] = isOk(await api.get(`/api/v1/chats/${asked.chat.id}/turns`)).items;
    assert.equal(turn.text, compact, "verbatim all the same");
    const { items } = isOk(await api.post("/api/v1/recall", { query: "detailed summary of the conversation so far", user_id: "raul" }));
    assert.ok(items.length > 0, "it can be found");
    await server.stop();
  });

  test("the words of a slash command are the user's", async () => {
    const server = await open();
    const api = server.api(await server.key("slash"));
    const told = isOk(await api.post("/api/v1/link", {
      user_id: "raul", system: "You are Claude Code, Anthropic's official CLI for Claude.",
      messages: [{ role: "user", content: [
        { type: "text", text: "<system-reminder>\nAs you answer, use: always write tests in Ruby\n</system-reminder>" },
        { type: "text", text: "<command-message>fix</command-message>\n<command-name>/fix</command-name>\n<command-args>The thermostat API returns Fahrenheit, I need Celsius everywhere</command-args>" }] }],
      response: { role: "assistant", content: "I will convert it where it is read." },
    }));
    await isRead(api);
    const chat = isOk(await api.get(`/api/v1/chats/${told.chat_id ?? told.conversation_id}`));
    assert.match(chat.title, /^The thermostat API returns Fahrenheit/);
    const kept = JSON.stringify([isOk(await api.get("/api/v1/memories?user_id=raul")).items.map((m) => [m.summary, m.resolution]), chat.title, chat.summary,
      isOk(await api.get("/api/v1/chains?user_id=raul")).items.map((c) => c.topic)]);
    assert.doesNotMatch(kept, /Ruby|command-|reminder/, kept);
    await server.stop();
  });
});

const command = "<command-message>garden-note</command-message>\n<command-name>/garden-note</command-name>\n"
  + "<command-args>the compost delivery moves to the 14th</command-args>";
const expansion = "You must thoroughly record the following in the garden diary: the compost delivery moves to the 14th";
const critical = "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\nYour task is to create a detailed summary of the conversation so far.";
const order = "Read the valve driver thoroughly and always report every suspicious line.";

/* as Claude Code 2.1 sends them: what it adds stands in blocks of the user's last message */
onEachBackend("row 11, captured calls", (open) => {
  test("what clients write is never mined, never a title, never in a context", async () => {
    const server = await open();
    const api = server.api(await server.key("row11"));
    const link = async (messages, content) => isOk(await api.post("/api/v1/link",
      { messages, response: { role: "assistant", content } }));
    const text = (words) => ({ type: "text", text: words });
    const user = (...blocks) => ({ role: "user", content: blocks });
    const valve = user(text("<system-reminder>\nBe brief.\n</system-reminder>"),
      text("our greenhouse valve opens at night and drowns the seedlings, can you find out why?"));
    const call = { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "Agent",
      input: { description: "Inspect the driver", prompt: order, subagent_type: "general-purpose" } }] };
    const top = await link([valve], call.content);
    const began = await link([user(text(order))], [{ type: "tool_use", id: "t2", name: "Bash", input: { command: "ls" } }]);
    const went = await link([user(text(order)),
      { role: "assistant", content: [{ type: "tool_use", id: "t2", name: "Bash", input: { command: "ls" } }] },
      user({ type: "tool_result", tool_use_id: "t2", content: "valve.py" })], [text("The relay level is inverted.")]);
    assert.deepEqual([top.is_subtask, began.is_subtask, went.is_subtask], [false, true, true]);
    assert.equal(went.branch_id, began.branch_id);
    const answer = { role: "assistant", content: [text("The relay level is inverted: flip RELAY_ACTIVE.")] };
    const past = [valve, call, user({ type: "tool_result", tool_use_id: "t1", content: "The relay level is inverted." })];
    await link(past, answer.content);
    await link([...past, answer, user(text(command), text(expansion))], [text("Noted.")]);
    const summed = await link([...past, answer, user(text(command), text(expansion), text(critical))],
      [text("<analysis>They look at a valve.</analysis>\n<summary>Flip RELAY_ACTIVE.</summary>")]);
    /* resumed: the client fills in an exchange that nobody had */
    const resumed = await link([...past, answer, user(text("Continue from where you left off.")),
      { role: "assistant", content: [text("No response requested.")] },
      user(text("which relay board did we order for the greenhouse?"))], [text("The four-channel one.")]);
    await isRead(api);
    const gone = isOk(await api.post(`/api/v1/chats/${resumed.chat_id}/context`, { budget_tokens: 3000 })).text;
    assert.match(gone, /which relay board/);
    assert.doesNotMatch(gone, /left off|No response requested/);
    const machine = /thoroughly|TEXT ONLY|detailed summary|Be brief|<summary>|command-name|left off/;
    for (const chat of isOk(await api.get("/api/v1/chats?limit=20")).items) {
      assert.doesNotMatch(chat.title ?? "", machine);
    }
    const kept = isOk(await api.get("/api/v1/memories?limit=100")).items;
    for (const memory of kept) assert.doesNotMatch(`${memory.summary} ${memory.resolution}`, machine);
    assert.ok(kept.some((memory) => memory.summary === "the compost delivery moves to the 14th"), JSON.stringify(kept));
    const context = isOk(await api.post(`/api/v1/chats/${summed.chat_id}/context`, { budget_tokens: 3000 })).text;
    assert.match(context, /user #\d+: the compost delivery moves to the 14th\n/);
    assert.doesNotMatch(context, machine);
    await server.stop();
  });
});
