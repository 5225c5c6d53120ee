import type { Json, JsonObject } from '#kernel/base/json.ts';
import type { JsonPatch } from '#kernel/base/json-patch.ts';
import { Rejection } from '#kernel/base/rejection.ts';

/** Characters and values. A copy of the document into itself doubles it, and a patch can contain many. */
const WEIGHT_MAX = 1_000_000;

/**
 * Applies a JSON patch (RFC 6902) completely, or refuses it with the index of the failed operation. The
 * document is not modified, and the result may share parts with it. Only own members of objects are accessed,
 * so prototypes are out of reach.
 */
export const applyJsonPatch = (document: Json, patch: JsonPatch): Json => {
  let weight = weigh(document, WEIGHT_MAX);
  return patch.reduce((before: Json, operation, number) => {
    const added = addedBy(operation, before);
    if (added !== undefined && operation.op !== 'move') weight += weigh(added, WEIGHT_MAX - weight);
    if (weight > WEIGHT_MAX)
      throw new Rejection('patch_not_applicable', { operation: number, reason: 'too_large' });
    const after = apply(operation, before, added);
    if (after === undefined)
      throw new Rejection(operation.op === 'test' ? 'patch_test_failed' : 'patch_not_applicable', {
        operation: number,
      });
    return after;
  }, document);
};

type Operation = JsonPatch[number];

/** The value that an operation inserts. */
const addedBy = (operation: Operation, document: Json): Json | undefined => {
  switch (operation.op) {
    case 'add':
    case 'replace':
      return operation.value;
    case 'copy':
    case 'move':
      return valueAt(document, tokensOf(operation.from));
    case 'remove':
    case 'test':
      return undefined;
  }
};

/** The document after the operation; undefined if the operation fails. */
const apply = (operation: Operation, document: Json, added: Json | undefined): Json | undefined => {
  const path = tokensOf(operation.path);
  switch (operation.op) {
    case 'add':
    case 'copy':
      return added === undefined ? undefined : add(document, path, added);
    case 'remove':
      return remove(document, path);
    case 'replace':
      return added === undefined ? undefined : replace(document, path, added);
    case 'move':
      return added === undefined
        ? undefined
        : move(document, { from: tokensOf(operation.from), path }, added);
    case 'test': {
      const found = valueAt(document, path);
      return found !== undefined && areEqual(found, operation.value) ? document : undefined;
    }
  }
};

type Tokens = readonly string[];

/** RFC 6901, section 4: in this order, or `~01` would become a slash. */
const tokensOf = (pointer: string): Tokens =>
  pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));

const add = (document: Json, path: Tokens, value: Json): Json | undefined =>
  changeAt(document, path, {
    whole: value,
    list: (items, token) => {
      const index = token === '-' ? items.length : indexOf(token);
      return index === undefined || index > items.length ? undefined : items.toSpliced(index, 0, value);
    },
    object: (members, name) => ({ ...members, [name]: value }),
  });

const replace = (document: Json, path: Tokens, value: Json): Json | undefined =>
  valueAt(document, path) === undefined ? undefined : put(document, path, value);

const put = (document: Json, path: Tokens, value: Json): Json | undefined =>
  changeAt(document, path, {
    whole: value,
    list: (items, token) => items.with(Number(token), value),
    object: (members, name) => ({ ...members, [name]: value }),
  });

/** The whole document cannot be removed, because an item must remain. */
const remove = (document: Json, path: Tokens): Json | undefined =>
  changeAt(document, path, {
    whole: undefined,
    list: (items, token) =>
      valueAt(items, [token]) === undefined ? undefined : items.toSpliced(Number(token), 1),
    object: (members, name) =>
      Object.hasOwn(members, name)
        ? Object.fromEntries(Object.entries(members).filter(([each]) => each !== name))
        : undefined,
  });

/** A value cannot be moved into itself (RFC 6902, section 4.4). */
const move = (
  document: Json,
  { from, path }: { from: Tokens; path: Tokens },
  value: Json,
): Json | undefined => {
  if (from.every((token, index) => token === path[index]))
    return from.length === path.length ? document : undefined;
  const without = remove(document, from);
  return without === undefined ? undefined : add(without, path, value);
};

type Change = {
  /** The result if the path is the whole document. */
  readonly whole: Json | undefined;
  list(items: readonly Json[], token: string): Json | undefined;
  object(members: JsonObject, name: string): Json | undefined;
};

/**
 * Changes the list or object that contains the end of the path. The depth of recursion is at most the length
 * of the pointer.
 */
const changeAt = (document: Json, [token, ...rest]: Tokens, change: Change): Json | undefined => {
  if (token === undefined) return change.whole;
  if (rest.length === 0) {
    if (isList(document)) return change.list(document, token);
    return isObject(document) ? change.object(document, token) : undefined;
  }
  const child = valueAt(document, [token]);
  const changed = child === undefined ? undefined : changeAt(child, rest, change);
  return changed === undefined ? undefined : put(document, [token], changed);
};

const valueAt = (document: Json, path: Tokens): Json | undefined => {
  let value: Json | undefined = document;
  for (const token of path) {
    if (isList(value)) value = value[indexOf(token) ?? value.length];
    else value = isObject(value) && Object.hasOwn(value, token) ? value[token] : undefined;
  }
  return value;
};

/** RFC 6901, section 4: without leading zeros. */
const indexOf = (token: string): number | undefined =>
  /^(?:0|[1-9]\d{0,9})$/.test(token) ? Number(token) : undefined;

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);
const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !isList(value);

/** RFC 6902, section 4.6: the order of members is irrelevant. */
export const areEqual = (one: Json | undefined, other: Json | undefined): boolean => {
  if (isList(one) && isList(other))
    return one.length === other.length && one.every((item, index) => areEqual(item, other[index]));
  if (!isObject(one) || !isObject(other)) return one === other;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && areEqual(one[name], other[name]))
  );
};

/** Not recursive, because copies can nest deeper than any body; stops above `enough`. */
const weigh = (document: Json, enough: number): number => {
  let weight = 0;
  const waiting: (Json | undefined)[] = [document];
  while (waiting.length > 0 && weight <= enough) {
    const value = waiting.pop();
    weight += typeof value === 'string' ? value.length + 1 : 1;
    if (isList(value)) for (const item of value) waiting.push(item);
    else if (isObject(value)) {
      for (const [name, member] of Object.entries(value)) {
        weight += name.length;
        waiting.push(member);
      }
    }
  }
  return weight;
};
