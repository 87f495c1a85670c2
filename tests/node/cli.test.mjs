// SPDX-License-Identifier: Apache-2.0
// The command line: on a data folder and against a scripted server.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync,
    writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

const bin = process.env.CLEW_BIN;
const env = { PATH: process.env.PATH, HOME: '/nonexistent', NO_COLOR: '1' };
let dir;

before(() => { dir = mkdtempSync(join(tmpdir(), 'clew-cli-')); });
after(() => rmSync(dir, { recursive: true, force: true }));

function clew(args, { input = '', vars = {} } = {}) {
    return spawnSync(bin, args,
        { input, encoding: 'utf8', env: { ...env, ...vars } });
}

// The same while this process answers: the event loop must go on.
function clewAsync(args, vars = {}) {
    return new Promise((resolve) => {
        const child = spawn(bin, args, { env: { ...env, ...vars } });
        let stdout = '';
        let stderr = '';
        child.stdout.on('data', (part) => { stdout += part; });
        child.stderr.on('data', (part) => { stderr += part; });
        child.on('close', (status) => resolve({ status, stdout, stderr }));
    });
}

function onData(args, options) {
    const run = clew([...args, '--data', dir, '--json'], options);
    assert.equal(run.status, 0, run.stderr);
    return run.stdout ? JSON.parse(run.stdout) : null;
}

test('help lists every command and each explains itself', () => {
    const help = clew(['help']);
    assert.equal(help.status, 0);
    const names = [...help.stdout.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2,}/gm)]
        .map((match) => match[1]);
    assert.ok(names.length >= 15, names.join());
    for (const name of names) {
        const one = clew([...name.split(' '), '--help']);
        assert.equal(one.status, 0);
        assert.match(one.stdout, new RegExp(`usage: clew ${name}`));
        assert.match(one.stdout, /example:\n {2}clew /);
    }
});

test('completion scripts are valid shell', () => {
    const script = clew(['completion', 'bash']);
    const check = spawnSync('bash', ['-n'], { input: script.stdout });
    assert.equal(check.status, 0, String(check.stderr));
    const words = spawnSync('bash', ['-c',
        `${script.stdout}\nCOMP_WORDS=(clew keys ''); COMP_CWORD=2; cd /; ` +
        '_clew; printf "%s\\n" "${COMPREPLY[@]}"'], { encoding: 'utf8' });
    for (const word of ['create', 'list', 'revoke']) {
        assert.ok(words.stdout.split('\n').includes(word), words.stdout);
    }
});

test('completion reaches commands of two words, and other shells read it', () => {
    const ask = (words) => spawnSync('bash', ['-c',
        `${clew(['completion', 'bash']).stdout}\nCOMP_WORDS=(clew ${words} '--'); ` +
        `COMP_CWORD=${words.split(' ').length + 1}; _clew; ` +
        'printf "%s\\n" "${COMPREPLY[@]}"'], { encoding: 'utf8' }).stdout;
    assert.match(ask('keys create'), /^--role$/m);
    assert.match(ask('chats'), /^--cursor$/m);
    assert.doesNotMatch(ask('chats title'), /^--cursor$/m);
    for (const shell of ['zsh', 'fish']) { // where they are installed
        const file = join(dir, `completion.${shell}`);
        writeFileSync(file, clew(['completion', shell]).stdout);
        const check = spawnSync(shell, ['-n', file],
            { encoding: 'utf8', env: { ...env, HOME: dir } });
        if (!check.error) assert.equal(check.status, 0, check.stderr);
    }
});

test('completion knows the values of options and operands', () => {
    const script = clew(['completion', 'bash']).stdout;
    const ask = (...words) => spawnSync('bash', ['-c',
        `${script}\nCOMP_WORDS=(clew ${words.map((w) => `'${w}'`).join(' ')}); ` +
        `COMP_CWORD=${words.length}; cd /; _clew; printf "%s\\n" "\${COMPREPLY[@]}"`],
    { encoding: 'utf8' }).stdout.trim().split('\n');
    assert.deepEqual(ask('recall', '--kind', ''), ['turn', 'memory', 'episode', 'chat']);
    assert.deepEqual(ask('keys', 'create', '--role', ''), ['read', 'write', 'admin']);
    assert.ok(ask('setup', 'c').includes('cursor'));
    assert.ok(ask('chats', '--set', 'server.l').includes('server.listen='));
});

test('a private authority is trusted by name', () => {
    const bad = clew(['chats', '--url', 'https://127.0.0.1:1', '--ca-file', '/nowhere.pem']);
    assert.equal(bad.status, 11);
});

test('commands that are one call do it', () => {
    const { turn, chat } = onData(['turn', '--user', 'pia',
        'My dentist appointment is on Friday at nine in the morning.']);
    const memories = onData(['memories', '--user', 'pia']).items;
    assert.ok(memories.length > 0);
    assert.equal(onData(['memories', 'show', memories[0].id]).id, memories[0].id);
    assert.equal(onData(['memories', 'source', memories[0].id]).items[0].id, turn.id);
    assert.equal(onData(['chats', 'title', chat.id, 'teeth']).title, 'teeth');
    assert.ok(onData(['chats', 'close', chat.id]).closed_at);
    assert.equal(onData(['analyse', 'Could you call me?']).act, 'request');
    assert.equal(onData(['efforts', 'new', 'pia', 'find a dentist']).user_id, 'pia');
    assert.ok(Array.isArray(onData(['links', '--decision', 'link']).items));
    const shown = clew(['memories', '--user', 'pia', '--data', dir]);
    assert.match(shown.stdout, new RegExp(`^${memories[0].id.slice(0, 13)}\\S* {2}`, 'm'));
    const wrong = clew(['links', 'feedback', turn.id, 'maybe', '--data', dir]);
    assert.equal(wrong.status, 2);
    assert.match(wrong.stderr, /"maybe" must be correct or incorrect/);
    /* what was done, in a line or two */
    const said = (...words) => clew([...words, '--data', dir]).stdout;
    assert.match(said('forget', '--turn', turn.id), /^would be forgotten: [^{]*\b1 turn\b/);
    assert.match(said('chats', 'close', chat.id), /^chat \S{18}, closed just now\n/);
    assert.match(said('efforts', 'new', 'pia', 'buy a brush'), /^\S+ {2}\[effort:open\] buy a brush\n$/);
    assert.match(said('tasks'), / in (\d+ min|24 h)\b/);
    assert.match(clew(['efforts', '--data', dir]).stderr, /no open efforts of "me"; --user names another, "clew users" lists them/);
    /* what is wrong is told of what was typed, in its words */
    for (const [words, code, message] of [
        [['tree', ''], 2, /^clew: CHAT is empty/], [['turn', ''], 2, /^clew: TEXT\|- is empty/],
        [['sessions', 'nosuch'], 2, /^clew: "nosuch" is no id$/m], [['memories', 'show', 'nosuch'], 4, /nosuch/],
        [['fork', turn.id, '--at', 'x'], 2, /--at must be a whole number from 0 on/],
        [['model', 'add', '/nowhere'], 4, /"\/nowhere" is no folder/], [['model', 'remove', 'static'], 5, /clew's own/],
        [['agents', 'check', '/nowhere.yaml'], 4, /^clew: \/nowhere\.yaml: there is no such file/],
    ]) {
        const run = clew([...words, '--data', dir]);
        assert.equal(run.status, code, `${words.join(' ')}: ${run.stderr}`);
        assert.match(run.stderr, message);
    }
});

test('forget only says what would go unless it is told to', () => {
    const { turn } = onData(['turn', '--user', 'rob', 'the code is tangerine']);
    const find = () => onData(['recall', 'tangerine', '--user', 'rob', '--kind',
        'turn']).items.length;
    assert.equal(clew(['forget', '--data', dir]).status, 2);
    const dry = clew(['forget', '--turn', turn.id, '--data', dir]);
    assert.match(dry.stderr, /--yes/);
    assert.equal(find(), 1);
    const done = onData(['forget', '--turn', turn.id, '--yes']);
    assert.equal(done.forgotten.turns, 1);
    assert.equal(find(), 0);
    /* a name that is mistyped is no success */
    for (const more of [[], ['--yes']]) {
        const nobody = clew(['forget', '--user', 'Nobody', '--data', dir, ...more]);
        assert.match(nobody.stdout, /forgotten: nothing$/m);
        assert.match(nobody.stderr, /^nothing is kept of "Nobody"; "clew users" lists those who speak here$/m);
    }
});

const hasScript = spawnSync('script', ['--version']).status === 0;
test('on a terminal forget asks, and anything but a yes is a no',
    { skip: hasScript ? false : 'script is not installed' }, async () => {
    const { turn } = onData(['turn', '--user', 'kim', 'the code is aubergine']);
    const find = () => onData(['recall', 'aubergine', '--user', 'kim', '--kind',
        'turn']).items.length;
    /* The answer comes through the terminal once it was asked for, as a ^C
     * before would end it unasked; without an answer its input ends. */
    const ask = async (answer, more = '') => {
        const run = spawn('script', ['-qec',
            `'${bin}' forget --turn ${turn.id} --data '${dir}' ${more}`, '/dev/null'],
        { stdio: ['pipe', 'pipe', 'inherit'], env: { ...env, TERM: 'xterm' } });
        let said = '';
        run.stdout.setEncoding('utf8').on('data', (part) => {
            said += part;
            if (/\[y\/N\] $/.test(said)) run.stdin.end(answer);
        });
        await once(run, 'close');
        return said;
    };
    for (const answer of ['n\n', '\n', 'nope\n', 'yesterday\n', '\u0003', '\u0004', '']) {
        const said = await ask(answer);
        assert.match(said, /would be forgotten: 1 turn/, answer);
        assert.match(said, /Forget this for good\? \[y\/N\]/, answer);
        assert.equal(find(), 1, JSON.stringify(answer));
    }
    assert.doesNotMatch(await ask('y\n', '--dry-run'), /\[y\/N\]/);
    assert.equal(find(), 1);
    assert.match(await ask('y\n'), /forgotten: 1 turn[^]*receipt/);
    assert.equal(find(), 0);
});

test('what cannot be found is named, and a closed pipe is no error', () => {
    const lost = clew(['tree', 'nowhere', '--data', dir]);
    assert.equal(lost.status, 4);
    assert.match(lost.stderr, /nowhere/);
    for (const flag of ['--version', '-V']) {
        assert.match(clew([flag]).stdout, /^clew \d/);
    }
    const piped = spawnSync('bash', ['-c', `"${bin}" help | true; ` +
        'echo "${PIPESTATUS[0]}"'], { env, encoding: 'utf8' });
    assert.equal(piped.stderr, '');
    assert.equal(piped.stdout.trim(), '0');
});

test('a mistake exits with the code of its status', () => {
    assert.equal(clew(['nonsense']).status, 2);
    assert.equal(clew(['turn']).status, 2);
    assert.equal(clew(['turn', 'x', '--odd']).status, 2);
    assert.equal(clew(['config', '--set', 'no.such=1']).status, 2);
    assert.equal(clew(['config', '--config', '/nowhere.yaml']).status, 4);
    assert.equal(clew(['turn', 'x', '--url', 'http://127.0.0.1:1']).status, 11);
    const id = '0199c1d2-7a00-7000-8000-000000000001';
    const run = clew(['tree', id, '--data', dir, '--json']);
    assert.equal(run.status, 4);
    assert.equal(JSON.parse(run.stderr).error.code, 'NOT_FOUND');
});

test('a word that is nearly another asks whether that was meant', () => {
    for (const [words, meant] of [
        ['chian', /did you mean\n {2}chains\n {2}chains show/],
        ['memory', /did you mean\n {2}memories\n/],
        ['keys lst', /did you mean\n {2}keys list\nSee/],
        ['sesion end x', /did you mean\n {2}sessions end\nSee/],
        ['memories shw x', /did you mean "memories show"\?/],
        ['rebuild link', /did you mean "rebuild links"\?/],
        ['help recal', /did you mean: recall$/m],
        ['recall x --untl yesterday', /"--untl"; did you mean "--until"\?/],
        ['chats --usr=ada', /did you mean "--user"\?/],
        ['chats --jsn', /did you mean "--json"\?/],
        ['--hlep', /no option --hlep; did you mean "--help"\?/],
        ['chats --set serve.listen=1', /did you mean "server.listen"\?/],
        ['chains conclud', /"conclud" is no id; did you mean "chains conclude"\?/],
    ]) {
        const run = clew([...words.split(' '), '--data', dir]);
        assert.equal(run.status, 2, words);
        assert.match(run.stderr, meant, words);
        assert.equal(run.stdout, '');
    }
    for (const words of ['search x', 'list', 'resume', 'memories foo',
        'recall x --verbose', 'recall x -x', 'chats --set a.b=1']) {
        const run = clew([...words.split(' '), '--data', dir]);
        assert.equal(run.status, 2, words);
        assert.doesNotMatch(run.stderr, /did you mean/, words);
    }
});

test('a line that names no command is an error in JSON, too', () => {
    for (const [words, said] of [
        ['frobnicate --json', /^no such command: frobnicate$/],
        ['--json frobnicate', /^no such command: frobnicate$/],
        ['frobnicate - x -j y', /^no such command: frobnicate$/],
        ['--json', /^no command$/],
        ['--data /x -j', /^no command$/],
        ['keys --json', /^no such command: keys; did you mean "keys create", "keys list"/],
        ['keys lst --json', /^no such command: keys; did you mean "keys list"$/],
        ['memory --json x', /did you mean "memories"/],
        ['--usr=ada chats --json', /there is no option --usr=ada$/],
        ['-- chats', /^clew: no command, .* --\nSee/],
        ['-- chats --json', /^clew: no command, .* --\nSee/],
        ['chats --json=yes', /^--json takes no value$/],
        ['chats -j1', /^--json takes no value$/],
        ['chats --usr=ada -j', /unknown option "--usr=ada"/],
    ]) {
        const run = clew(words.split(' '));
        assert.equal(run.status, 2, words);
        assert.equal(run.stdout, '');
        if (said.source.startsWith('^clew')) {
            assert.match(run.stderr, said, 'behind "--" nothing is an option');
            continue;
        }
        assert.match(run.stderr, /^[^\n]+\n$/, words);
        const { error } = JSON.parse(run.stderr);
        assert.equal(error.code, 'VALIDATION_ERROR');
        assert.match(error.message, said, words);
    }
});

test('memories knows its types and how memories stand', () => {
    const list = (...words) => clew(['memories', '--data', dir, ...words]);
    const { result } = onData(['brain', 'contribute', 'The larch behind the ' +
        'house grows slowly because its soil is dry in summer.']);
    assert.match(list('--type', 'thought').stdout, /larch/);
    assert.doesNotMatch(list('--status', 'retracted').stdout, /larch/);
    onData(['brain', 'retract', result.thought_id]);
    assert.match(list('--status', 'retracted').stdout, /larch/);
    assert.doesNotMatch(list('--status', 'active').stdout, /larch/);
    for (const [words, told] of [
        [['--type', 'thougts'], /among fact, .*; did you mean "thought"\?/],
        [['--type', 'song'], /no "song" among fact, preference, event/],
        [['--status', 'opn'], /--status must be active, open, resolved/],
    ]) {
        assert.equal(list(...words).status, 2);
        assert.match(list(...words).stderr, told);
    }
    assert.equal(list('--type', 'skill').status, 0);
});

test('why answers of whatever has an id, as it stands now', () => {
    const say = (text, ...more) => onData(['turn', '--user', 'una', text, ...more]).turn;
    const first = say('The kiln in the shed needs a new thermostat.');
    say('We decided to buy the Wexford thermostat for the kiln.', '--chat', first.chat_id);
    const effort = onData(['efforts', 'new', 'una', 'mend the kiln']).id;
    const why = (id) => clew(['why', id, '--data', dir]);
    const kept = onData(['memories', '--user', 'una', '--chat', first.chat_id]).items;
    const decision = kept.find((one) => /Wexford/.test(one.summary));
    assert.match(why(decision.id).stdout, /What the reader sees\n[^]*Wexford.*\d+ %/);
    onData(['brain', 'retract', decision.id]);
    assert.match(why(decision.id).stdout, /taken back +just now/);
    onData(['resolve', effort, 'the fuse was blown']);
    onData(['reopen', effort]);
    assert.match(why(effort).stdout,
        /resolved, just now, by hand\n +- open, just now, by hand/);
    assert.match(why(effort).stdout, /No turn is behind it/);
    assert.match(why(`${first.chat_id}:1`).stdout, /Its chat/);
    const chain = onData(['chains', '--user', 'una']).items[0];
    assert.match(why(chain.id).stdout, /How it went/);
    const chat = why(first.chat_id);
    assert.equal(chat.status, 2);
    assert.match(chat.stderr, /that is a chat.*CHAT:3/);
    for (const id of ['0123abcd', 'nothing', '0199c1d2-7a00-7000-8000-000000000001']) {
        assert.equal(why(id).status, 4);
        assert.match(why(id).stderr, /nothing has (the|an) id/);
    }
});

test('days and hours are those of the local zone, said and shown', () => {
    const tokyo = { vars: { TZ: 'Asia/Tokyo' } };
    const at = '2026-03-01T20:30:00Z'; /* the 2nd there, half past five */
    const { turn } = onData(['turn', '--user', 'mio', '--at', at,
        'The ferry of the islands leaves tomorrow.'], tokyo);
    assert.equal(turn.timezone, 'Asia/Tokyo');
    assert.equal(onData(['turn', '--user', 'mio', '--timezone', 'Europe/Rome', 'hm'],
        tokyo).turn.timezone, 'Europe/Rome');
    assert.equal(onData(['turn', '--user', 'mio', 'well'],
        { vars: { TZ: 'UTC' } }).turn.timezone, null);
    const shown = (...words) => clew([...words, '--user', 'mio', '--data', dir], tokyo).stdout;
    assert.match(shown('chains'), /^2026-03-02 05:30 /m);
    assert.match(shown('chats'), /2026-03-02/);
    assert.match(shown('recall', 'ferry'), /2026-03-02/);
    const [day] = onData(['analyse', 'call me tomorrow'], tokyo).dates;
    assert.match(day.since, /T15:00:00/); /* midnight there */
    /* a day may end while it runs */
    const tomorrow = () => new Date(Date.now() + 33 * 3600e3).toISOString().slice(0, 10);
    const before = tomorrow();
    const told = clew(['analyse', 'call me tomorrow', '--data', dir], tokyo).stdout;
    assert.ok([before, tomorrow()].some((one) => told.includes(`tomorrow: ${one}`)), told);
});

test('the id that efforts prints is one that resolve takes', () => {
    onData(['turn', '--user', 'ivy', '--at', '2026-05-04T10:00:00Z',
        'I need lunchbox ideas for my daughter Mila. She is seven and allergic to cashews.']);
    const made = onData(['memories', '--user', 'ivy']).items;
    const part = made.find((m) => m.type === 'effort').id.slice(0, 13);
    /* what the same turn made beside it begins so too */
    assert.ok(made.some((m) => m.type !== 'effort' && m.id.startsWith(part)), JSON.stringify(made));
    const on = (...words) => clew([...words, '--data', dir]);
    assert.match(on('efforts', '--user', 'ivy').stdout, new RegExp(`^${part} `));
    assert.match(on('resolve', part, 'wraps').stdout, /effort:resolved/);
    assert.match(on('reopen', part).stdout, /effort:open/);
    assert.match(on('abandon', part).stdout, /effort:abandoned/);
    const none = on('resolve', '0123-4567');
    assert.equal(none.status, 4);
    assert.match(none.stderr, /no effort has an id that begins with "0123-4567"; "clew efforts --all" lists them/);
});

test('what waits to be read without a server is told where memories are listed', () => {
    const own = mkdtempSync(join(dir, 'unread-'));
    const talk = join(own, 'talk.jsonl');
    writeFileSync(talk, Array.from({ length: 30 }, (_, i) => JSON.stringify({ role: 'user',
        content: `The rent of garage ${i} is ${100 + i} euros a month.`,
        created_at: `2026-04-01T10:${10 + i}:00Z` })).join('\n'));
    const on = (...words) => clew([...words, '--data', own]);
    const waits = /^\d+ turns wait to be read; memories are made of them while "clew serve" runs$/m;
    assert.match(on('import', talk, '--user', 'gil').stderr, waits);
    assert.match(on('turn', '--user', 'gil', 'My sister lives in Porto.').stderr, waits);
    for (const words of ['memories', 'efforts', 'conflicts']) {
        assert.match(on(words, '--user', 'gil').stderr, waits, words);
    }
    assert.doesNotMatch(on('memories', '--user', 'gil', '--json').stderr, waits);
    /* nothing waits where few turns came */
    assert.doesNotMatch(clew(['memories', '--data', dir]).stderr, /to be read/);
});

test('what a person says last of an effort is what is told of it', () => {
    const own = mkdtempSync(join(tmpdir(), 'clew-cli-'));
    const on = (...words) => clew([...words, '--data', own]);
    const json = (...words) => JSON.parse(on(...words, '--json').stdout);
    const { turn } = json('turn', '--user', 'lia', 'Hello, the windmill squeaks again.');
    const effort = json('efforts', 'new', 'lia', 'oil the windmill', '--chat', turn.chat_id).id;
    const views = () => [on('context', turn.chat_id, '-m', 'oil the windmill').stdout,
        on('start', 'oil the windmill', '--user', 'lia').stdout,
        on('recall', 'oil the windmill', '--user', 'lia').stdout].join('\n');
    on('resolve', effort, 'graphite was used');
    assert.match(views(), /=> graphite was used/);
    on('reopen', effort);
    assert.match(views(), /oil the windmill/);
    assert.doesNotMatch(views(), /graphite/);
    assert.match(on('efforts', '--user', 'lia').stdout, /effort:open[^]*before: graphite/);
    on('resolve', effort, 'a new bearing');
    assert.match(views(), /=> a new bearing/);
    on('abandon', effort);
    assert.doesNotMatch(views() + on('memories', 'show', effort).stdout, /bearing|graphite/);
    assert.match(on('why', effort).stdout, /abandoned, just now, by hand/);
    assert.match(on('rebuild', '--dry-run').stdout, / 0 differences/);
    rmSync(own, { recursive: true });
});

test('every command that a message or an example names is there, with its options', () => {
    const src = new URL('../../src/', import.meta.url).pathname;
    const known = new Map();
    const helpOf = (name) => {
        if (!known.has(name)) known.set(name, clew([...name.split(' '), '--help']).stdout);
        return known.get(name);
    };
    const names = new Set([...clew(['help']).stdout
        .matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2,}/gm)].map((match) => match[1]));
    let n = 0;
    for (const file of readdirSync(src, { recursive: true })) {
        if (!/\.[ch]$/.test(file)) continue;
        /* strings that were cut for the width are one */
        const text = readFileSync(join(src, file), 'utf8').replace(/"\s*\n\s*"/g, '');
        for (const [, line] of text.matchAll(/(?:\\"|\.example =\s*"|`)clew ([a-z][^"\n]*?)(?:\\?"|`)/g)) {
            const [one, two = ''] = line.split(/[ ,;:]/);
            const pair = `${one} ${two}`;
            const name = names.has(pair) ? pair : one;
            assert.ok(names.has(name), `${file}: "clew ${line}"`);
            for (const [option] of line.matchAll(/--[a-z][a-z-]*/g)) {
                assert.ok(new RegExp(`${option}\\b`).test(helpOf(name)),
                    `${file}: "clew ${line}" has no ${option}`);
            }
            n++;
        }
    }
    assert.ok(n > 60, `${n} were looked at`);
});

test('config says where a value came from', () => {
    const shown = JSON.parse(clew(['config', '--json', '--set',
        'llm.model=x'], { vars: { CLEW_LLM_KEY: 'secret' } }).stdout);
    assert.deepEqual(shown['llm.model'], { value: 'x', from: 'command line' });
    assert.deepEqual(shown['llm.key'], { value: '***', from: 'CLEW_LLM_KEY' });
    assert.equal(shown['chats.inactivity_minutes'].value, 30);
});

// A terminal of its own, as `script` gives one.
function onTerminal(args, vars = {}) {
    const line = [bin, ...args].map((word) => `'${word}'`).join(' ');
    return spawnSync('script', ['-qec', line, '/dev/null'], {
        encoding: 'utf8', env: { PATH: env.PATH, HOME: env.HOME, ...vars },
    }).stdout;
}

test('recall marks what it found, on a terminal only', () => {
    const own = join(dir, 'marks');
    const long = `${'padding '.repeat(80)}then the kettle broke`;
    for (const text of ['The kettle is in the attic.', long]) {
        const run = clew(['turn', '--user', 'ada', '--data', own, text]);
        assert.equal(run.status, 0, run.stderr);
    }
    const args = ['recall', '--user', 'ada', '--data', own, '-K', 'turn',
        'where are the kettles?'];
    const shown = onTerminal(args);
    const bold = '\x1b[1mkettle\x1b[0m';
    assert.ok(shown.includes(`The ${bold} is in the attic.`), shown);
    assert.ok(shown.includes(`then the ${bold} broke`), shown);
    assert.ok(shown.split('padding').length < 40, shown); // its passage
    assert.match(onTerminal([...args, '--explain']), /why: .*words \d\.\d+/);

    const plain = clew(args).stdout;
    assert.ok(plain.includes('The kettle is in the attic.'), plain);
    assert.ok(!plain.includes('\x1b') &&
        !onTerminal(args, { NO_COLOR: '1' }).includes('\x1b'));
    assert.ok(JSON.parse(clew([...args, '--json']).stdout).items.length === 2);

    for (const line of plain.split('\n')) {
        assert.ok([...line].length <= 80, line);
    }
    assert.match(plain, /^1\. user, .*, chat [0-9a-f-]{13}, \d+ % sure\n/);
    assert.equal(clew([...args, '--min-score', 'much']).status, 2);

    const none = clew(['recall', '--user', 'nobody', '--data', own, 'x']);
    assert.deepEqual([none.status, none.stdout, none.stderr],
        [0, '', 'nothing fits\n']);
});

test('a turn is kept, found, forked and shown as a tree', () => {
    const first = onData(['turn', '--user', 'ada', 'the lighthouse is red']);
    const chat = first.turn.chat_id;
    const second = onData(['turn', '--user', 'ada', '--chat', chat,
        '--role', 'assistant', '-'], { input: 'noted: a red\nlighthouse' });
    assert.equal(second.turn.seq, 2);
    assert.equal(second.turn.text, 'noted: a red\nlighthouse');

    const found = onData(['recall', '--user', 'ada', 'lighthouse', '-l', '1']);
    assert.equal(found.items.length, 1);
    assert.match(found.items[0].text, /lighthouse/);

    const fork = clew(['fork', chat, '--at', '1', '--data', dir]);
    assert.equal(fork.status, 0, fork.stderr);
    const child = fork.stdout.trim();
    const tree = clew(['tree', child, '--data', dir]).stdout;
    assert.match(tree, new RegExp(
        `^${chat.slice(0, 13)}\\S*  turns 1-2  .*\\n└─ ${child.slice(0, 13)}\\S*  at 1`));
    assert.equal(onData(['history', child]).items.length, 1);
    assert.equal(onData(['chats', '--user', 'ada']).items.length, 2);
    assert.equal(onData(['chats', '--user', 'nobody']).items.length, 0);
});

test('a key is shown once, listed and revoked', () => {
    const own = mkdtempSync(join(tmpdir(), 'clew-keys-'));
    try {
        const made = JSON.parse(clew(['keys', 'create', '--data', own,
            '--tenant', 'acme', '--role', 'read', '--json']).stdout);
        assert.match(made.key, /^clew_[0-9a-f]{16}_[0-9a-f]{64}$/);
        assert.equal(made.tenant, 'acme');
        assert.equal(made.role, 'read');
        const list = clew(['keys', 'list', '--data', own]).stdout;
        assert.match(list, new RegExp(`${made.id} +acme +read`));
        assert.ok(!list.includes(made.key.slice(-64)));
        assert.equal(clew(['keys', 'revoke', made.id, '--data', own]).status, 0);
        assert.equal(clew(['keys', 'revoke', made.id, '--data', own]).status, 4);
        assert.equal(clew(['keys', 'list', '--url', 'http://127.0.0.1:1'])
            .status, 2);
    } finally {
        rmSync(own, { recursive: true, force: true });
    }
});

test('the tenants of a store are listed where the data is', () => {
    const own = mkdtempSync(join(tmpdir(), 'clew-tenants-'));
    try {
        for (const tenant of ['acme', 'default', 'brick & sons']) {
            assert.equal(clew(['turn', 'hello', '--data', own, '--tenant', tenant]).status, 0);
        }
        const list = JSON.parse(clew(['tenant', 'list', '--data', own, '--json']).stdout);
        assert.deepEqual(list.items.map((item) => item.name), ['acme', 'default', 'brick & sons']);
        assert.ok(Date.parse(list.items[0].created_at) > 0);
        assert.match(clew(['tenant', 'list', '--data', own]).stdout, /^TENANT +MADE\nacme +just now\n/);
        /* a key is of one tenant, and learns of no other */
        assert.equal(clew(['tenant', 'list', '--url', 'http://127.0.0.1:1']).status, 2);
    } finally {
        rmSync(own, { recursive: true, force: true });
    }
});

test('a backup is a sound store of its own and overwrites nothing', () => {
    onData(['turn', '--user', 'eve', 'kept in the copy']);
    const copy = mkdtempSync(join(tmpdir(), 'clew-copy-'));
    try {
        const file = join(copy, 'clew.db');
        assert.equal(clew(['backup', file, '--data', dir]).status, 0);
        assert.equal(clew(['backup', file, '--data', dir]).status, 5);
        assert.equal(clew(['verify', '--data', copy]).status, 0);
        const found = JSON.parse(clew(['recall', 'copy', '--user', 'eve', '--kind', 'turn',
            '--data', copy, '--json']).stdout);
        assert.equal(found.items[0].text, 'kept in the copy');
    } finally {
        rmSync(copy, { recursive: true, force: true });
    }
});

test('root leaves nothing in a folder that its owner cannot read',
    { skip: process.getuid() !== 0 && 'needs root' }, () => {
        const nobody = 65534;
        const own = mkdtempSync(join(tmpdir(), 'clew-owned-'));
        try {
            chownSync(own, nobody, nobody);
            for (const args of [['turn', '--user', 'u', 'said by root'],
                ['keys', 'create', '--tenant', 't'], ['recall', 'root'],
                ['verify']]) {
                const run = clew([...args, '--data', own]);
                assert.equal(run.status, 0, run.stderr);
            }
            const names = readdirSync(own, { recursive: true });
            assert.ok(names.includes('clew.db'), names.join());
            for (const name of names) {
                assert.equal(statSync(join(own, name)).uid, nobody, name);
            }
        } finally {
            rmSync(own, { recursive: true, force: true });
        }
    });

test('many processes write to one folder at once and lose nothing', async () => {
    const own = mkdtempSync(join(tmpdir(), 'clew-many-'));
    try {
        assert.equal(clew(['turn', '--user', 'u', 'first', '--data', own])
            .status, 0);
        const runs = await Promise.all(Array.from({ length: 12 }, (_, i) =>
            clewAsync(['turn', '--user', 'u', `number ${i}`, '--data', own])));
        for (const run of runs) {
            assert.equal(run.status, 0, run.stderr);
        }
        const chats = JSON.parse(clew(['chats', '--data', own, '--json'])
            .stdout).items;
        assert.equal(chats.reduce((sum, c) => sum + c.last_seq, 0), 13);
        assert.equal(clew(['verify', '--data', own]).status, 0);
    } finally {
        rmSync(own, { recursive: true, force: true });
    }
});

test('with --url the same commands talk to a server', async () => {
    const seen = [];
    const server = createServer((request, response) => {
        let body = '';
        request.on('data', (part) => { body += part; });
        request.on('end', () => {
            seen.push({ url: request.url, method: request.method, body,
                key: request.headers.authorization });
            response.setHeader('content-type', 'application/json');
            response.end(JSON.stringify({ items: [{ id: 'c1', last_seq: 3,
                title: 'evil \u001b[2J title' }], next_cursor: 'n1' }));
        });
    });
    await new Promise((done) => { server.listen(0, '127.0.0.1', done); });
    const url = `http://127.0.0.1:${server.address().port}/`;
    try {
        const run = await clewAsync(['chats', '--user', 'a b&c'],
            { CLEW_URL: url, CLEW_KEY: 'clew_k' });
        assert.equal(run.status, 0, run.stderr);
        assert.equal(seen[0].url, '/api/v1/chats?limit=50&user_id=a%20b%26c');
        assert.equal(seen[0].key, 'Bearer clew_k');
        assert.match(run.stdout, /c1 +3/);
        assert.ok(!run.stdout.includes('\u001b'));
        assert.match(run.stderr, /--cursor n1/);
        await clewAsync(['fork', 'x/../y', '--at', '4', '--url', url]);
        assert.equal(seen[1].url, '/api/v1/chats/x%2F..%2Fy/fork');
        assert.deepEqual(JSON.parse(seen[1].body), { at_seq: 4 });
    } finally {
        await new Promise((done) => { server.close(done); });
    }
});
