/** The content of an article: the first version and its later changes. */
export type Subject = {
  readonly title: string;
  /** The improved title. */
  readonly retitled: string;
  readonly tags: readonly string[];
  readonly paragraphs: readonly string[];
  /** A later addition. */
  readonly afterthought: string;
};

/** A small magazine about making, keeping and mending things. */
export const SUBJECTS: readonly Subject[] = [
  {
    title: 'The last lamplighter of Harbour Street',
    retitled: 'Who lit Harbour Street',
    tags: ['cities', 'work'],
    paragraphs: [
      'Until the spring of her retirement, Edda walked the same two miles every evening with a pole, a ladder and a tin of matches. The lamps had been electric for years. She still went, because somebody had to look.',
      'What she looked for was never in the contract: a door left open, a pram in the rain, the baker’s light that should have been on by four. *A street is not lit by lamps,* she used to say. *It is lit by whoever notices that one is out.*',
    ],
    afterthought:
      'Edda read this before it went to print. She asked us to correct the ladder: it was seven rungs, not eight.',
  },
  {
    title: 'Bread that remembers the week',
    retitled: 'A loaf that remembers the week',
    tags: ['food', 'craft'],
    paragraphs: [
      'A sourdough is a diary kept in flour. On Monday it is quick and mild; by Friday, fed late and left near the stove, it has opinions.',
      'We kept one jar for a year and wrote down what it did beside what we did. The two columns agree more often than we should like. Late nights show as a sour crumb, holidays as a brick.',
    ],
    afterthought:
      'Several readers have asked for the recipe. It is four parts flour, three parts water, and more patience than you have today.',
  },
  {
    title: 'How to fold a map so that it opens at home',
    retitled: 'Folding a map so that it opens at home',
    tags: ['craft', 'travel'],
    paragraphs: [
      'Every folded map has one panel that comes up first, and it is nearly always the wrong one. Surveyors know a fold that puts any square you choose on top, and keeps it there.',
      'You need a table, a ruler and a map you are allowed to spoil. Begin from the square that matters to you, and fold away from it: first the long side, then the short. Whatever you do next, it will open there.',
    ],
    afterthought:
      'The diagram in the first edition had the second fold the wrong way round. It has been redrawn.',
  },
  {
    title: 'Notes on keeping a tide table',
    retitled: 'Keeping a tide table by hand',
    tags: ['sea', 'measuring'],
    paragraphs: [
      'The harbour office prints the tides a year ahead, to the minute. The old man on the quay writes them down the day after, to the quarter of an hour, and trusts his own.',
      'His notebooks fill a shelf. Where the two differ, there was wind; where they differ by much, there was a story. He has written that down as well, in the margin, in pencil.',
    ],
    afterthought:
      'The notebooks are now in the town library, which has asked for somebody who can read the handwriting.',
  },
  {
    title: 'A short history of the shared staircase',
    retitled: 'What neighbours owe a staircase',
    tags: ['cities', 'history'],
    paragraphs: [
      'Nobody lives on a staircase and everybody lives by it. It is where the keys are dropped, where the quarrels are finished, and where one learns from the smell who is having a birthday.',
      'The rules pinned to the wall on the ground floor have been amended eleven times since the house was built. Read in order, they tell you who moved in, who moved out, and who practised the trombone.',
    ],
    afterthought: 'Rule twelve was added while this was being edited. It concerns bicycles.',
  },
  {
    title: 'The clockmaker who stopped at noon',
    retitled: 'Stopped at noon',
    tags: ['craft', 'measuring'],
    paragraphs: [
      'There are fourteen clocks in the window and they all say twelve. A customer once asked which of them was right. *All of them,* said the clockmaker, *twice a day, and I need not wind any.*',
      'Behind the shop it is another matter. The clock on the bench is compared with the radio every morning, and what it has lost overnight is entered in a ledger that goes back to his grandmother.',
    ],
    afterthought: 'We counted again: there are fifteen. One had been behind the till.',
  },
  {
    title: 'What the mending circle mends',
    retitled: 'What a mending circle mends',
    tags: ['craft', 'people'],
    paragraphs: [
      'On the first Tuesday of the month the back room of the laundrette fills with people who have brought something broken. A toaster, a cuff, a chair with three and a half legs.',
      'About half of it leaves whole. The other half leaves understood, which is not nothing: you will throw it away with a better conscience, and buy the next one with a sharper eye.',
    ],
    afterthought: 'The circle has moved to the second Tuesday, because of the choir.',
  },
  {
    title: 'Listening to old bridges',
    retitled: 'How an old bridge is listened to',
    tags: ['cities', 'measuring'],
    paragraphs: [
      'An engineer taps a rivet with a small hammer and listens. A sound rivet rings; a loose one clacks. There are forty thousand in this bridge and she has heard each of them, some twice.',
      'Sensors would do it faster, and some now do. But a sensor reports what it was told to look for. The hammer, she says, has no such manners.',
    ],
    afterthought: 'Forty thousand was an estimate. The survey has since come to 41,312.',
  },
  {
    title: 'In praise of the index card',
    retitled: 'The index card, reconsidered',
    tags: ['writing', 'history'],
    paragraphs: [
      'A card holds about as much as one can think at once. It can be moved, and while it is moved it keeps what it says: that is the whole of its genius.',
      'We have tried seven programs that promised to be better. Each had a search that found everything, and each took away the corner of the desk where the three cards lay that did not fit yet.',
    ],
    afterthought:
      'Since this appeared we have been sent eleven more programs to try. Thank you. Please stop.',
  },
  {
    title: 'Rain gauges of the upper valley',
    retitled: 'Eleven rain gauges, one valley',
    tags: ['measuring', 'people'],
    paragraphs: [
      'There are eleven gauges between the pass and the mill, and eleven people who read them at seven in the morning. Nobody pays them. One has not missed a day since 1987.',
      'What they measure is sent to the weather service in a form that has a box for remarks. The remarks are the better part: *frost in the funnel*, *magpie*, *could not get out, see tomorrow*.',
    ],
    afterthought:
      'Correction: the unbroken record belongs to the gauge at the chapel, not to the one at the mill. The mill asked us to say so.',
  },
  {
    title: 'The smallest printing press in the county',
    retitled: 'A press the size of a suitcase',
    tags: ['writing', 'craft'],
    paragraphs: [
      'It prints one postcard at a time, and weighs as much as a child of six. It has been to four weddings, two strikes and a burial.',
      'You learn to write for it. There are only forty of the letter *e*, so a long sentence has to be finished before it is begun.',
    ],
    afterthought:
      'A reader has sent us sixty more of the letter *e*. We hardly know what to do with ourselves.',
  },
  {
    title: 'Ferry timetables and other fictions',
    retitled: 'The ferry timetable as fiction',
    tags: ['sea', 'travel'],
    paragraphs: [
      'The timetable says every forty minutes. What it means is: when the lorry is on, when the fog is off, and when the captain’s brother-in-law has finished his tea.',
      'And yet nobody on the island is ever late. They have stopped asking when it leaves, and ask instead whether it has been heard.',
    ],
    afterthought:
      'The company writes that punctuality was 91 % last year. The island writes that it depends on what one calls a year.',
  },
  {
    title: 'A garden in the shape of its pipes',
    retitled: 'The garden that follows its pipes',
    tags: ['cities', 'people'],
    paragraphs: [
      'When the allotments were laid out, nobody asked where the water ran. So the paths are straight and the vegetables are not: they lean, bed after bed, towards a leak that has never been found.',
      'Every few years somebody proposes to repair it. The motion is always carried, and nothing is ever done, because of the strawberries.',
    ],
    afterthought: 'It has been found. It was under the strawberries.',
  },
  {
    title: 'The grammar of shop signs',
    retitled: 'Shop signs and their grammar',
    tags: ['cities', 'writing'],
    paragraphs: [
      '*Back soon* is a promise, *back in five minutes* a lie, and *closed* an insult. We walked one street for a month and wrote down what the doors said.',
      'The longest was a poem about a dentist. The shortest was an arrow, which pointed at another arrow.',
    ],
    afterthought:
      'The second arrow has since been removed, and the first one points at nothing with great conviction.',
  },
];
