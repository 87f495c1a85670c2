"""Plain made-up sentences about everyday things, to widen the corpus.

The corpus is rich in definitions and poor in people doing things. These
frames, filled with common words, give the teachers more to say about who does
what, where and when. No text of any data set is in here.
"""
import random

PEOPLE = """man woman boy girl child baby person dancer singer chef player
worker soldier teacher student doctor nurse driver farmer artist friend sister
brother mother father son daughter neighbor boss colleague cousin uncle aunt
grandmother wife husband police officer skier surfer cyclist runner climber
tourist musician guitarist reporter scientist engineer lawyer lady guy kid
toddler teenager couple crowd team group president minister""".split()
ANIMALS = """dog cat horse cow bird monkey elephant lion tiger panda sheep goat
duck fish rabbit squirrel bear turtle snake kitten puppy kangaroo fox deer
mouse frog butterfly""".split()
DOING = """playing:play riding:ride eating:eat cutting:cut slicing:slice
cooking:cook washing:wash holding:hold carrying:carry throwing:throw
catching:catch kicking:kick pushing:push pulling:pull reading:read
writing:write painting:paint drawing:draw cleaning:clean fixing:fix
building:build breaking:break opening:open closing:close buying:buy
selling:sell watching:watch chasing:chase feeding:feed hugging:hug
kissing:kiss lifting:lift peeling:peel mixing:mix frying:fry pouring:pour
drinking:drink driving:drive licking:lick biting:bite petting:pet
folding:fold stirring:stir tearing:tear shooting:shoot wearing:wear
planting:plant picking:pick finding:find losing:lose moving:move
teaching:teach learning:learn recording:record""".split()
GOING = """running:run walking:walk swimming:swim jumping:jump dancing:dance
sleeping:sleep sitting:sit standing:stand laughing:laugh crying:cry
talking:talk singing:sing flying:fly falling:fall climbing:climb
skiing:ski surfing:surf skating:skate waiting:wait working:work
smiling:smile crawling:crawl fighting:fight exercising:exercise
lying:lie rolling:roll diving:dive skateboarding:skateboard""".split()
THINGS = """guitar piano flute violin drum ball football basketball bike
bicycle motorcycle car truck bus train boat plane horse book newspaper phone
computer laptop camera box bag hat shirt dress jacket shoe table chair bench
bed couch knife sword gun stick rope onion potato tomato carrot cucumber apple
banana orange pineapple bread cake pizza pasta rice meat chicken egg shrimp
garlic pepper paper letter picture door window wall tree flower leaf branch
grass rock ladder bottle glass cup plate bowl pan toy balloon kite skateboard
umbrella candle key ring watch garden house fence tent map ticket medicine
gift project report recipe song movie game code file server""".split()
PLACES = """park street beach kitchen garden field forest pool river lake ocean
mountain city office school hospital church store market restaurant airport
station stage road bridge yard snow sand water grass stadium gym library
bedroom bathroom garage hotel village desert farm""".split()
ADJECTIVES = """red blue green yellow black white brown big small large little
old young tall short happy sad angry tired new broken dirty clean wet hot cold
wooden metal plastic empty full busy quiet loud dangerous beautiful
expensive cheap heavy bright dark""".split()
COUNTRIES = """china russia india iran iraq syria israel egypt france germany
britain japan pakistan afghanistan ukraine turkey greece spain italy mexico
canada australia brazil korea libya sudan nigeria kenya cuba
california texas london paris moscow beijing boston chicago""".split()
NEWS = """kill:killed attack:attacks hit:hits warn:warns arrest:arrested
vote:votes reject:rejects approve:approves sign:signs bomb:bombs protest:protests
sue:sues cut:cuts raise:raises seize:seized release:releases visit:visits
blame:blames urge:urges delay:delays end:ends win:wins lose:loses
close:closes strike:strikes free:frees accuse:accuses back:backs""".split()
SUBJECTS = """government police army court parliament bank company rebels
militants protesters workers officials senate opposition union leader minister
president troops voters investors regulators shares stocks oil prices
markets profits sales economy jobs exports""".split()
EVENTS = """bombing earthquake crash election deal strike talks protest fire
flood storm trial shooting explosion crisis budget vote summit ceasefire
sanctions attack raid ban tax cuts inquiry merger""".split()
TIMES = """yesterday|today|tomorrow|last week|last night|last year|this morning
|next month|on monday|on friday|in march|in 2019|two days ago|a while ago
|every day|at noon|after work|before dinner|on the weekend""".split('|')
FEELINGS = """love hate like enjoy miss want need prefer remember forget
avoid""".split()
HOBBIES = """hiking yoga painting pottery photography baking gardening chess
camping running coffee tea music jazz travel volunteering therapy surfing
programming meditation fishing knitting""".split()
NUMBERS = "two three four five several many some 10 20 100".split()


def pick(words):
    return random.choice(words).strip()


def verb(words):
    ing, base = random.choice(words).split(":")
    return ing, base


def noun_phrase(words):
    article = pick(["a", "the", "the", "a", "his", "her", "my", "one"])
    adjective = pick(ADJECTIVES) + " " if random.random() < .3 else ""
    return f"{article} {adjective}{pick(words)}"


def being():
    return noun_phrase(PEOPLE if random.random() < .75 else ANIMALS)


def place():
    return pick(["in", "on", "at", "near", "by", "through"]) + " the " \
        + pick(PLACES)


def scene():
    ing, _ = verb(DOING)
    going, _ = verb(GOING)
    who = being()
    return pick([
        f"{who} is {ing} {noun_phrase(THINGS)}.",
        f"{who} is {ing} {noun_phrase(THINGS)}.",
        f"{who} is {going} {place()}.",
        f"{who} {ing} {noun_phrase(THINGS)} {place()}.",
        f"{who} and {being()} are {going}.",
        f"{who} is {ing} {being()}.",
        f"{pick(NUMBERS)} {pick(PEOPLE)}s are {going} {place()}.",
        f"{who} {going} {place()} with {noun_phrase(THINGS)}.",
        f"{who} in a {pick(ADJECTIVES)} shirt is {going}.",
        f"there is {noun_phrase(THINGS)} {place()}.",
        f"{noun_phrase(THINGS)} and {noun_phrase(THINGS)} {place()}.",
        f"{who} is not {ing} {noun_phrase(THINGS)}.",
    ])


def news():
    base, third = random.choice(NEWS).split(":")
    return pick([
        f"{pick(COUNTRIES)} {third} {pick(COUNTRIES)} over {pick(EVENTS)}",
        f"{pick(NUMBERS)} {third} in {pick(COUNTRIES)} {pick(EVENTS)}",
        f"{pick(SUBJECTS)} {base} {pick(EVENTS)} in {pick(COUNTRIES)}",
        f"{pick(COUNTRIES)} {pick(SUBJECTS)} {base} after {pick(EVENTS)}",
        f"{pick(SUBJECTS)} {pick(['rise', 'fall', 'drop', 'climb'])} "
        f"{random.randint(1, 30)} percent as {pick(SUBJECTS)} {base}",
        f"the {pick(SUBJECTS)} said on {pick(['monday', 'friday'])} it would "
        f"{base} the {pick(EVENTS)}.",
        f"{pick(COUNTRIES)} {pick(EVENTS)} {third} {pick(NUMBERS)} people",
    ])


def talk():
    ing, base = verb(DOING)
    going, go = verb(GOING)
    who = pick(["i", "we", "you", "they", "he", "she"])
    rel = pick(PEOPLE)
    return pick([
        f"{who} went {going} {place()} {pick(TIMES)}.",
        f"what did {who} {base} {pick(TIMES)}?",
        f"when did my {rel} {base} the {pick(THINGS)}?",
        f"where does {who} usually {go}?",
        f"my {rel} and {who} {base} {noun_phrase(THINGS)} {pick(TIMES)}.",
        f"how can i {base} {noun_phrase(THINGS)}?",
        f"can you help me {base} the {pick(THINGS)}?",
        f"{who} {pick(FEELINGS)} {pick(HOBBIES)} and {pick(HOBBIES)}.",
        f"i don't {pick(FEELINGS)} {pick(HOBBIES)} anymore.",
        f"i started {pick(HOBBIES)} {pick(TIMES)} because of my {rel}.",
        f"which {pick(THINGS)} should {who} buy {pick(TIMES)}?",
        f"do you {pick(FEELINGS)} {pick(HOBBIES)}?",
        f"wow, that {pick(THINGS)} looks {pick(ADJECTIVES)}! who made it?",
        f"thanks! {who} bought it {place()} {pick(TIMES)}.",
        f"let's {go} {place()} {pick(TIMES)}.",
        f"the {pick(THINGS)} is {pick(ADJECTIVES)}, {who} should {base} it.",
    ])


def sentences(count, seed):
    random.seed(seed)
    kinds = [scene, scene, talk, talk, news]
    return [random.choice(kinds)() for _ in range(count)]
