import type * as z from 'zod';

/** A fault in an input, and its place as a JSON pointer (RFC 6901). */
type FieldError = { readonly pointer: string; readonly detail: string };

/** Enough to fix a person’s input at once; a flood of errors helps nobody. */
const ERRORS_MAX = 50;
const NAME_CHARACTERS_MAX = 100;

/** The errors of a schema, by field. An unknown field is named itself, not its parent. */
export const fieldErrorsOf = ({ issues }: z.ZodError, input: unknown): FieldError[] =>
  issues
    .flatMap(({ path, message, ...issue }) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => ({ pointer: pointerTo([...path, key]), detail: 'There is no such field.' }))
        : [
            {
              pointer: pointerTo(path),
              detail: isAbsence(issue.code, input, path) ? 'Is missing.' : message,
            },
          ],
    )
    .slice(0, ERRORS_MAX);

/** The schema’s own message names the expected type, in a programmer’s words. */
const isAbsence = (code: z.core.$ZodIssue['code'], input: unknown, path: readonly PropertyKey[]): boolean =>
  OF_TYPES.has(code) &&
  path.reduce<unknown>(
    (value, part) => (value as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[part],
    input,
  ) === undefined;

const OF_TYPES: ReadonlySet<string> = new Set(['invalid_type', 'invalid_value', 'invalid_union']);

export const pointerTo = (path: readonly PropertyKey[]): string =>
  path
    .map(
      (part) => `/${String(part).slice(0, NAME_CHARACTERS_MAX).replaceAll('~', '~0').replaceAll('/', '~1')}`,
    )
    .join('');
