import type { Expression } from './expression.ts';

export type State = Readonly<Record<string, unknown>>;
/** What a reference leads to, as of when the condition is asked; nothing if it was never there. */
export type Find = (kind: string, id: unknown) => State | undefined;

/** Whether a condition is true of an aggregate for a caller, who has no id if nobody is signed in. */
export const holds = (expression: Expression, state: State, callerId: number | null, find: Find): boolean => {
  switch (expression.op) {
    case 'const':
      return expression.value;
    case 'and':
      return expression.of.every((each) => holds(each, state, callerId, find));
    case 'or':
      return expression.of.some((each) => holds(each, state, callerId, find));
    case 'not':
      return !holds(expression.of, state, callerId, find);
    case 'is':
      return (state[expression.field] ?? null) === expression.value;
    case 'min':
      return compare(state[expression.field], expression.than) >= 0;
    case 'max':
      return compare(state[expression.field], expression.than) <= 0;
    case 'caller':
      return callerId !== null && state[expression.field] === callerId;
    case 'at': {
      const found = find(expression.kind, state[expression.field]);
      return found !== undefined && holds(expression.of, found, callerId, find);
    }
    case 'some':
      return ((state[expression.list] ?? []) as readonly State[]).some((item) => holds(expression.of, item, callerId, find));
  }
};

/** Not a number, which no comparison is true of, if there is no value. Instants and dates are texts in the order of time. */
export const compare = (value: unknown, than: number | string): number => {
  if (typeof value === 'number' && typeof than === 'number') return value - than;
  if (typeof value === 'string' && typeof than === 'string') return value < than ? -1 : Number(value > than);
  return Number.NaN;
};
