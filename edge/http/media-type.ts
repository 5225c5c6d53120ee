import type { IncomingMessage } from 'node:http';
import { oncePer } from '#kernel/base/once-per.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { remember } from '#shared/remember.ts';

/**
 * The type that the request prefers (RFC 9110, section 12.5.1); the first if it states none. Ignores
 * parameters of a range: our types have none, and some clients ask for `application/json; charset=utf-8`.
 */
export const preferredType = <const Type extends string>(
  { headers }: Asking,
  types: readonly [Type, ...Type[]],
): Type | undefined => {
  const { accept = '' } = headers;
  if (accept.trim() === '') return types[0];
  const found = answerOf(types)(accept);
  return found === NONE ? undefined : (found as Type);
};

/**
 * By the list of offered types, which callers must keep as a constant. Clients send few different headers.
 */
const answerOf = oncePer((types: readonly string[]) => remember((text) => preferredIn(text, types) ?? NONE));
const NONE = '';

const preferredIn = <Type extends string>(accept: string, types: readonly Type[]): Type | undefined => {
  const ranges = rangesIn(accept);
  const [best] = types
    .map((type) => ({ type, range: mostSpecific(ranges, type) }))
    .filter(({ range }) => range !== undefined && range.weight > 0)
    .toSorted((one, other) => comparePreference(one.range, other.range));
  return best?.type;
};

/** Like `preferredType`, but refuses a request that accepts none of them. */
export const demandPreferredType = <const Type extends string>(
  request: Asking,
  types: readonly [Type, ...Type[]],
): Type => {
  const type = preferredType(request, types);
  if (type === undefined)
    throw new HttpProblem('not_acceptable', { detail: `There is ${types.join(', ')}.` });
  return type;
};

type Asking = Pick<IncomingMessage, 'headers'>;

type Range = {
  readonly name: string;
  readonly weight: number;
  /** At equal weights, the first in the header wins. */
  readonly place: number;
};

/**
 * Commas within quotes separate nothing. An open quote extends to the end, so that no text takes long to
 * parse.
 */
const QUOTED = /"(?:[^"\\]|\\.?)*(?:"|$)/gs;

const rangesIn = (accept: string): readonly Range[] =>
  accept
    .replaceAll(QUOTED, '')
    .toLowerCase()
    .split(',')
    .map((text, place) => {
      const [name = '', ...parameters] = text.split(';').map((part) => part.trim());
      return { name, weight: weightIn(parameters), place };
    });

const weightIn = (parameters: readonly string[]): number => {
  const text = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  const weight = Number(text ?? 1);
  return weight >= 0 && weight <= 1 ? weight : 1;
};

/** The exact type takes precedence over a range of its main type, and that over the range of all types. */
const mostSpecific = (ranges: readonly Range[], type: string): Range | undefined => {
  for (const name of namesOf(type)) {
    const [found] = ranges
      .filter((range) => range.name === name)
      .toSorted((one, other) => other.weight - one.weight);
    if (found !== undefined) return found;
  }
  return undefined;
};

const namesOf = (type: string): readonly string[] => [type, `${type.split('/')[0]}/*`, '*/*'];

const comparePreference = (one: Range | undefined, other: Range | undefined): number =>
  one === undefined || other === undefined
    ? 0
    : other.weight - one.weight || specificityOf(other) - specificityOf(one) || one.place - other.place;

const specificityOf = ({ name }: Range): number => (name === '*/*' ? 0 : name.endsWith('/*') ? 1 : 2);
