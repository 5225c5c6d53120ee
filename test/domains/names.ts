import type { Random } from '../../testing/random.ts';

/** Usual names, and some that code, SQL, GraphQL, JSON or our own documents use for something else. */
const NOUNS = [
  ...'team claim invoice project person task ticket room booking course category company address box bus'.split(
    ' ',
  ),
  ...'purchaseOrder lineItem staff news series data status index constructor object event query node page'.split(
    ' ',
  ),
  ...'key value link role scope change entry cursor error order group table column function class default'.split(
    ' ',
  ),
  ...'delivery subscription mutation input'.split(' '),
];
const FIELDS = [
  ...'title name note amount count kind label colour size start end code text body summary email phone'.split(
    ' ',
  ),
  ...'priority dueOn startsAt isOpen tags picture photo total price level rank weight score state type'.split(
    ' ',
  ),
  ...'constructor toString valueOf hasOwnProperty length data self next first last before after key value'.split(
    ' ',
  ),
  ...'order group user role from to by of in is as sum min max node edges cursor links actor subject'.split(
    ' ',
  ),
  ...'aVeryLongNameThatNobodyWouldEverWantToType x isInX2 url html json sql'.split(' '),
];
const REFERENCES =
  'owner author person assignee reviewer lead member parent source target origin item host'.split(' ');
const LISTS = 'members lines entries notes steps parts guests prices addresses boxes children data'.split(
  ' ',
);
const VERBS = [
  ...'open start approve reject close send mark accept finish reopen archive pause resume confirm post'.split(
    ' ',
  ),
  ...'get list query find set put delete update create add remove move test call apply then constructor'.split(
    ' ',
  ),
];
export const WORDS = [
  ...'draft open closed sent done ready late low high red blue first second active inactive A b_c x1 NONE'.split(
    ' ',
  ),
  ...'yes no on off constructor published pending'.split(' '),
];
const POOLS = { noun: NOUNS, field: FIELDS, reference: REFERENCES, list: LISTS, verb: VERBS };

/** A name that is not taken yet. */
export const newName = (random: Random, pool: keyof typeof POOLS, taken: object): string => {
  const free = POOLS[pool].filter((name) => !Object.hasOwn(taken, name));
  return free.length === 0 ? `${pool}${Object.keys(taken).length}` : random.pick(free);
};

export const someOf = <Item>(random: Random, items: readonly Item[], least = 0): Item[] => {
  const rest = [...items];
  const wanted = Math.min(items.length, least + random.below(Math.max(1, items.length - least + 1)));
  return Array.from({ length: wanted }, () => rest.splice(random.below(rest.length), 1)[0] as Item);
};
