import { type Node, parsed } from './shipped-source.ts';

/** A declaration in which one word is another, is removed, or is there twice. */
type Reworded = { readonly what: string; readonly source: string };

/** Every single change of a word; code of the author is code, and not part of the declaration. */
export const rewordingsOf = (source: string): readonly Reworded[] => {
  const whole = `(() => {${source}})`;
  const offset = '(() => {'.length;
  const line = (at: number): string => source.slice(0, at).split('\n').at(-1)?.trim() ?? '';
  return [...changesIn(parsed(whole))].map(({ start, end, to }) => {
    const [from, until] = [start - offset, end - offset];
    const before = `${line(from)}⟦${source.slice(from, until)}⟧`;
    return {
      what: `${before.slice(-120)} → ${to === '' ? 'nothing' : to}`,
      source: source.slice(0, from) + to + source.slice(until),
    };
  });
};

type Change = { readonly start: number; readonly end: number; readonly to: string };

const CODE = new Set(['ArrowFunctionExpression', 'FunctionExpression']);

function* changesIn(node: Node, depth = 0): Generator<Change> {
  // The whole and its files are functions; any deeper one is code.
  if (CODE.has(node.type) && depth > 1) return;
  yield* changesOf(node);
  const inside = depth + (CODE.has(node.type) ? 1 : 0);
  for (const [key, child] of Object.entries(node)) {
    if (key === 'key' && node.type === 'Property') continue;
    for (const each of Array.isArray(child) ? child : [child])
      if (isNode(each)) yield* changesIn(each, inside);
  }
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value;

function* changesOf(node: Node): Generator<Change> {
  const { start, end } = node;
  switch (node.type) {
    case 'Literal':
      if (typeof node.value === 'string') yield { start, end, to: JSON.stringify(`${node.value}x`) };
      if (typeof node.value === 'number') yield { start, end, to: String(node.value + 1) };
      if (typeof node.value === 'boolean') yield { start, end, to: String(!node.value) };
      return;
    case 'ObjectExpression':
      yield* removals(node.properties as readonly Node[]);
      for (const { type, key, shorthand } of node.properties as readonly Node[])
        if (type === 'Property' && !shorthand && isNode(key) && key.type === 'Identifier')
          yield { start: key.start, end: key.end, to: `${key.name}x` };
      return;
    case 'ArrayExpression':
      yield* removals(node.elements as readonly Node[]);
      return;
    case 'CallExpression': {
      // An option of a field: `.optional()`.
      const callee = node.callee as Node;
      if (callee.type === 'MemberExpression') yield { start: (callee.object as Node).end, end, to: '' };
      return;
    }
    default:
  }
}

/** Each with the comma after it, or before the last. */
function* removals(all: readonly Node[]): Generator<Change> {
  for (const [index, { start, end }] of all.entries()) {
    const next = all[index + 1];
    const before = all[index - 1];
    if (next !== undefined) yield { start, end: next.start, to: '' };
    else yield { start: before?.end ?? start, end, to: '' };
  }
}
