import type { DemoPerson } from '#kernel/demo/demo.ts';
import { type Random, randomFrom } from '#kernel/demo/random.ts';
import { EDITORS, type Name, READERS, WRITERS, WRITERS_OF_INCIDENT } from './people.ts';
import { NUISANCES, REMARKS, SEQUELS } from './remarks.ts';
import { DAY } from './story-time.ts';
import { SUBJECTS, type Subject } from './subjects.ts';
import { SUBJECTS_FROM_ELSEWHERE } from './subjects-from-elsewhere.ts';

export type PlannedComment = {
  /** The index of a person, like all authors. */
  readonly author: number;
  readonly text: string;
  readonly edited?: string;
  /** Removed by an editor. */
  readonly isModerated: boolean;
};

export type PlannedArticle = {
  readonly author: number;
  readonly title: string;
  readonly body: string;
  readonly tags: readonly string[];
  /** The seed of the cover picture. */
  readonly coverSeed?: number;
  /** In order. */
  readonly edits: readonly {
    readonly title?: string;
    readonly body?: string;
    readonly tags?: readonly string[];
  }[];
  readonly comments: readonly PlannedComment[];
  readonly fate: 'draft' | 'published' | 'unpublished' | 'deleted';
};

/** The content of a demo. Determined by seed and number of articles. */
type MagazinePlan = {
  readonly people: readonly [DemoPerson, ...DemoPerson[]];
  readonly articles: readonly PlannedArticle[];
};

const WRITERS_COUNT = 6;
const READERS_COUNT = 9;

export const planDemo = (seed: number, articlesCount: number): MagazinePlan => {
  const random = randomFrom(seed);
  const people = planPeople(random, seed);
  const subjects = random.shuffled([...SUBJECTS, ...SUBJECTS_FROM_ELSEWHERE]);
  const articles = Array.from({ length: articlesCount }, (_, index) => planArticle(random, subjects, index));
  return { people, articles };
};

const MORNING = 480;

/** The editor comes first, the writers follow within an hour, and the readers within two days. */
const planPeople = (random: Random, seed: number): readonly [DemoPerson, ...DemoPerson[]] => {
  const mailOf = ({ mailbox }: Name): string => `${mailbox}${seed === 1 ? '' : `.${seed}`}@example.com`;
  const person = (each: Name, role: string, joins: number): DemoPerson => ({
    name: each.name,
    email: mailOf(each),
    role,
    joins,
  });
  const writers = [...WRITERS_OF_INCIDENT, ...random.shuffled(WRITERS)].slice(0, WRITERS_COUNT);
  const readers = random.shuffled(READERS).slice(0, READERS_COUNT);
  return [
    person(random.pick(EDITORS), 'admin', MORNING),
    ...writers.map((each, index) => person(each, 'author', MORNING + 7 * (index + 1))),
    ...readers.map((each, index) =>
      person(each, 'reader', MORNING + 60 + index * Math.floor(DAY / READERS_COUNT)),
    ),
  ];
};

/** Indexes of people. */
export const EDITOR = 0;
export const FIRST_WRITER = 1;
export const FIRST_READER = FIRST_WRITER + WRITERS_COUNT;

const readerFrom = (random: Random): number => FIRST_READER + random.below(READERS_COUNT);
const anybodyFrom = (random: Random): number =>
  random.chance(0.8) ? readerFrom(random) : FIRST_WRITER + random.below(WRITERS_COUNT);

const planArticle = (random: Random, subjects: readonly Subject[], index: number): PlannedArticle => {
  const written = index < subjects.length ? first(subjects[index] as Subject) : sequel(subjects, index);
  const fate = fateOf(index);
  return {
    author: FIRST_WRITER + random.below(WRITERS_COUNT),
    ...written,
    ...(random.chance(0.6) && { coverSeed: random.below(2 ** 31) }),
    edits: written.edits.slice(0, random.below(written.edits.length + 1)),
    comments: fate === 'draft' ? [] : planComments(random),
    fate,
  };
};

/** Most are published; some are drafts, unpublished or deleted. */
const fateOf = (index: number): PlannedArticle['fate'] => {
  if (index % 6 === 3) return 'draft';
  if (index % 10 === 7) return 'unpublished';
  return index % 20 === 18 ? 'deleted' : 'published';
};

const paragraphs = (...texts: readonly string[]): string => texts.join('\n\n');

type Written = Pick<PlannedArticle, 'title' | 'body' | 'tags' | 'edits'>;

const first = ({ title, retitled, tags, paragraphs: texts, afterthought }: Subject): Written => ({
  title,
  body: paragraphs(...texts),
  tags,
  edits: [
    { title: retitled },
    { body: paragraphs(...texts, `> ${afterthought}`) },
    { tags: [...tags, 'from-the-archive'] },
  ],
});

/** A sequel to an earlier article; from the second round on, its title contains the number. */
const sequel = (subjects: readonly Subject[], index: number): Written => {
  const subject = subjects[index % subjects.length] as Subject;
  const round = Math.floor(index / subjects.length) - 1;
  const { title, opening } = SEQUELS[(index + round) % SEQUELS.length] as (typeof SEQUELS)[number];
  const again = Math.floor(round / SEQUELS.length);
  const text = [opening, subject.paragraphs[round % subject.paragraphs.length] ?? ''];
  return {
    title: `${title(subject.retitled)}${again === 0 ? '' : ` (${again + 1})`}`,
    body: paragraphs(...text),
    tags: [...subject.tags, 'sequel'],
    edits: [{ body: paragraphs(...text, `> ${subject.afterthought}`) }, { tags: ['sequel', 'letters'] }],
  };
};

const COMMENTS_MAX = 7;

const planComments = (random: Random): PlannedComment[] => {
  const remarks = random.shuffled(REMARKS).slice(0, random.below(COMMENTS_MAX + 1));
  const said = remarks.map((remark) => ({ author: anybodyFrom(random), ...remark, isModerated: false }));
  if (!random.chance(0.25)) return said;
  return [...said, { author: readerFrom(random), text: random.pick(NUISANCES), isModerated: true }];
};
