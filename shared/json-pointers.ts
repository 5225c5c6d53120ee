import type { ZodError } from 'zod';

/** What is wrong, and where, as a JSON pointer (RFC 6901). */
type FieldError = { readonly pointer: string; readonly detail: string };

/** Enough to put right at once what a person wrote; a flood of them helps nobody. */
const ERRORS_MAX = 50;
const NAME_CHARACTERS_MAX = 100;

/** Every field that a schema found wrong. A field that there is not is named by itself, not by what it was found in. */
export const fieldErrorsOf = ({ issues }: ZodError): FieldError[] =>
  issues
    .flatMap(({ path, message, ...issue }) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => ({ pointer: pointerTo([...path, key]), detail: 'There is no such field.' }))
        : [{ pointer: pointerTo(path), detail: message }],
    )
    .slice(0, ERRORS_MAX);

export const pointerTo = (path: readonly PropertyKey[]): string =>
  path.map((part) => `/${String(part).slice(0, NAME_CHARACTERS_MAX).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
