import type * as z from 'zod';
import type { Json, JsonObject } from '#kernel/base/json.ts';
import type { JsonPatch } from '#kernel/base/json-patch.ts';
import { parsePlainly } from '#kernel/base/plain-issues.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { fieldErrorsOf, pointerTo } from '#shared/json-pointers.ts';
import { applyJsonPatch, areEqual } from './json-patch.ts';

/** The aggregate as a patch sees it: in the form of a read, as far as the command side knows it. */
type PatchDocument = {
  readonly content: JsonObject;
  /** Read-only content, which a patch may test but not change. */
  readonly fixed: JsonObject;
  /** Pointers to readable content that only the query side knows. */
  readonly unknown: readonly string[];
};

/** The fields that a patch changes. Refused if they violate the schema. */
export const changesByPatch = <Schema extends z.ZodObject>(
  schema: Schema,
  document: PatchDocument,
  patch: JsonPatch,
): Partial<z.output<Schema>> => {
  refuseUnknownTests(document.unknown, patch);
  const patched = applyJsonPatch({ ...document.fixed, ...document.content }, patch);
  const changed = isObject(patched) ? changesTo(document, patched, patch) : undefined;
  // Validates changed fields only, so that an aggregate from before a rule can be patched.
  const { success, data, error } = changed
    ? parsePlainly(schema.pick(changed.mask), changed.input)
    : parsePlainly(schema, patched);
  if (!success)
    throw new Rejection('invalid_command', { errors: fieldErrorsOf(error, changed?.input ?? patched) });
  return data as Partial<z.output<Schema>>;
};

/**
 * A patch that compares, copies or traverses content reveals it by success or failure, so its sender needs
 * the right to read it.
 */
export const revealsContent = (patch: JsonPatch): boolean =>
  patch.some(({ op, path }) => op === 'test' || op === 'copy' || op === 'move' || path.lastIndexOf('/') > 0);

export const namesWhole = (patch: JsonPatch): boolean =>
  patch.some(({ path, ...rest }) => path === '' || ('from' in rest && rest.from === ''));

/** The value is unknown, so a failed test could be wrong. */
const refuseUnknownTests = (unknown: readonly string[], patch: JsonPatch): void => {
  const number = patch.findIndex(
    ({ op, path }) => op === 'test' && unknown.some((each) => isWithin(each, path) || isWithin(path, each)),
  );
  if (number !== -1)
    throw new Rejection('patch_not_applicable', { operation: number, reason: 'not_comparable' });
};

const isWithin = (pointer: string, outer: string): boolean =>
  pointer === outer || pointer.startsWith(`${outer}/`);

type Changes = { readonly mask: Record<string, true>; readonly input: JsonObject };

const changesTo = (
  { content, fixed, unknown }: PatchDocument,
  patched: JsonObject,
  patch: JsonPatch,
): Changes => {
  const readOnly = new Set([...Object.keys(fixed), ...unknown.map((pointer) => pointer.split('/')[1])]);
  // As in a PUT, a replaced document may contain read-only fields or omit them.
  const isReplaced = patch.some(({ path }) => path === '');
  const names = [...new Set([...Object.keys(content), ...Object.keys(fixed), ...Object.keys(patched)])];
  const changed = names.filter(
    (name) =>
      !(isReplaced && readOnly.has(name)) &&
      !areEqual(memberOf(patched, name), memberOf(content, name) ?? memberOf(fixed, name)),
  );
  const errors = changed
    .filter((name) => readOnly.has(name))
    .map((name) => ({ pointer: pointerTo([name]), detail: 'Cannot be changed.' }));
  if (errors.length > 0) throw new Rejection('invalid_command', { errors });
  return {
    mask: Object.fromEntries(
      changed.filter((name) => Object.hasOwn(content, name)).map((name) => [name, true]),
    ),
    input: Object.fromEntries(Object.entries(patched).filter(([name]) => changed.includes(name))),
  };
};

/** Own members only, or every object would have `__proto__`. */
const memberOf = (object: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
