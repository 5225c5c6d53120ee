// Over 200 lines, because it is one derivation: all small changes of a source, from its syntax tree.
import { createHash } from 'node:crypto';
import { parseAst } from 'vitest/node';

/** A small change of a source that a test should find. */
export type Mutant = {
  /** Of the file and the texts, so that it stays the same when lines move. */
  readonly id: string;
  readonly file: string;
  readonly line: number;
  readonly from: string;
  readonly to: string;
  /** Where `to` replaces `from`. */
  readonly at: Span;
  /** The expression or statement that is executed when the change matters. */
  readonly whole: Span & { readonly isStatement: boolean };
};

type Span = { readonly start: number; readonly end: number };
type Node = Span & { readonly type: string; readonly [key: string]: unknown };
/** `at` is the whole node unless given. */
type Change = { readonly to: string; readonly at?: Span; readonly isStatement?: boolean };
type Context = { readonly parent: Node | undefined; readonly key: string; readonly isInChain: boolean };

/** All mutants of a file. Types, imports, keys of objects, and texts of errors and logs stay as they are. */
export const mutantsOf = (file: string, source: string): Mutant[] => {
  const times = new Map<string, number>();
  const nameOf = (parts: readonly string[]): string => {
    const name = parts.join('\n');
    const nth = (times.get(name) ?? 0) + 1;
    times.set(name, nth);
    return createHash('sha256').update(`${name}\n${nth}`).digest('hex').slice(0, 8);
  };
  return [...nodesOf(parseAst(source, { lang: 'ts' }, file) as unknown as Node)].flatMap(
    ({ node, context }) =>
      context.isInChain
        ? []
        : changesOf(node, context, source).map(({ to, at = node, isStatement = false }) => {
            const from = source.slice(at.start, at.end);
            const before = source.slice(0, at.start);
            const whole = wholeOf(node, context);
            const lineText = source.slice(before.lastIndexOf('\n') + 1).split('\n', 1)[0] ?? '';
            return {
              id: nameOf([file, lineText.trim(), from, to]),
              file,
              line: before.split('\n').length,
              from,
              to,
              at: { start: at.start, end: at.end },
              whole: { start: whole.start, end: whole.end, isStatement },
            };
          }),
  );
};

export const mutated = (source: string, { at, to }: Mutant): string =>
  source.slice(0, at.start) + to + source.slice(at.end);

/** A template with a tag is executed with it. */
const wholeOf = (node: Node, { parent, key }: Context): Node =>
  parent?.type === 'TaggedTemplateExpression' && key === 'quasi' ? parent : node;

const IGNORED = new Set(['typeAnnotation', 'typeArguments', 'typeParameters', 'returnType', 'implements']);
const isIgnored = (node: Node): boolean =>
  (node.type.startsWith('TS') && node.expression === undefined) ||
  (/^(?:ImportDeclaration|Export)/.test(node.type) && !isNode(node.declaration)) ||
  (node.type === 'ExpressionStatement' && typeof node.directive === 'string') ||
  isReport(node);

/** Errors and lines of a log: their texts are for people. */
const isReport = (node: Node): boolean =>
  (node.type === 'NewExpression' && /(?:Error|Refusal)$/.test(nameOf(node.callee))) ||
  (node.type === 'CallExpression' &&
    /^(?:debug|info|warn|error|trace|describe|meta)$/.test(nameOf(node.callee)));

const nameOf = (callee: unknown): string => {
  if (!isNode(callee)) return '';
  return callee.type === 'MemberExpression' ? nameOf(callee.property) : String(callee.name ?? '');
};

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

function* nodesOf(
  node: Node,
  context: Context = { parent: undefined, key: '', isInChain: false },
): Generator<{ readonly node: Node; readonly context: Context }> {
  if (isIgnored(node)) return;
  yield { node, context };
  for (const [key, value] of Object.entries(node)) {
    if (IGNORED.has(key) || (key === 'key' && node.computed !== true)) continue;
    // A part of `a?.b.c` cannot be put into parentheses.
    const isInChain =
      (node.type === 'ChainExpression' || context.isInChain) &&
      ['expression', 'object', 'callee'].includes(key);
    for (const child of Array.isArray(value) ? value : [value])
      if (isNode(child)) yield* nodesOf(child, { parent: node, key, isInChain });
  }
}

const SWAPPED = new Map([
  ['===', ['!==']],
  ['!==', ['===']],
  ['<', ['<=', '>=']],
  ['<=', ['<', '>']],
  ['>', ['>=', '<=']],
  ['>=', ['>', '<']],
  ['&&', ['||']],
  ['||', ['&&']],
  ['+', ['-']],
  ['-', ['+']],
  ['*', ['/']],
  ['/', ['*']],
  ['%', ['*']],
]);
/** Methods whose result may stand for their object. */
const DROPPED = new Set(
  'filter,slice,sort,toSorted,reverse,toReversed,trim,toLowerCase,toUpperCase,concat'.split(','),
);
const RENAMED = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
  ['min', 'max'],
  ['max', 'min'],
]);
const NUMBER_MAX = 10;

const changesOf = (node: Node, context: Context, source: string): Change[] => {
  const text = (of: unknown): string => (isNode(of) ? source.slice(of.start, of.end) : '');
  const isTest = context.key === 'test' && /^(?:If|Conditional)/.test(context.parent?.type ?? '');
  const negated: Change[] = isTest ? [{ to: `!(${text(node)})` }] : [];
  switch (node.type) {
    case 'BinaryExpression':
      return operatorChanges(node, source);
    case 'LogicalExpression':
      return [...negated, ...operatorChanges(node, source)];
    case 'UnaryExpression':
      return node.operator === '!' ? [{ to: text(node.argument) }] : negated;
    case 'Literal':
      return literalChanges(node.value, context);
    case 'IfStatement':
      return node.alternate === null && isExit(node.consequent) ? [{ to: ';', isStatement: true }] : [];
    case 'ExpressionStatement':
      return isCall(node.expression) ? [{ to: ';', isStatement: true }] : [];
    case 'CallExpression':
      return [...negated, ...callChanges(node, text)];
    case 'TemplateLiteral':
      return sqlChanges(node, source);
    default:
      return negated;
  }
};

const operatorChanges = (node: Node, source: string): Change[] => {
  const { left, right, operator } = node;
  if (!isNode(left) || !isNode(right) || typeof operator !== 'string') return [];
  if (operator === '??') return [{ to: `(${source.slice(right.start, right.end)})` }];
  const start = left.end + source.slice(left.end, right.start).indexOf(operator);
  return (SWAPPED.get(operator) ?? []).map((to) => ({ to, at: { start, end: start + operator.length } }));
};

const literalChanges = (value: unknown, { parent, key }: Context): Change[] => {
  if (typeof value === 'boolean') return [{ to: String(!value) }];
  if (typeof value === 'number' && Number.isInteger(value) && value <= NUMBER_MAX)
    return [{ to: String(value + 1) }, ...(value > 0 ? [{ to: String(value - 1) }] : [])];
  if (typeof value === 'string' && value !== '' && parent?.type !== 'ImportExpression' && key !== 'source')
    return [{ to: "''" }];
  return [];
};

const callChanges = ({ callee, arguments: given }: Node, text: (of: unknown) => string): Change[] => {
  if (!isNode(callee) || callee.type !== 'MemberExpression' || !isNode(callee.property)) return [];
  const name = text(callee.property);
  if (DROPPED.has(name)) return [{ to: text(callee.object) }];
  const renamed = RENAMED.get(name);
  const isMeant = name === 'min' || name === 'max' ? text(callee.object) === 'Math' : Array.isArray(given);
  return renamed === undefined || !isMeant ? [] : [{ to: renamed, at: callee.property }];
};

const isCall = (node: unknown): boolean =>
  isNode(node) &&
  (node.type === 'AwaitExpression'
    ? isCall(node.argument)
    : node.type === 'CallExpression' && !isReport(node));

const isExit = (node: unknown): boolean =>
  isNode(node) &&
  (/^(?:Return|Throw|Continue|Break)/.test(node.type) ||
    (Array.isArray(node.body) && node.body.length === 1 && isExit(node.body[0])));

const SQL = /\b(?:select|insert into|update|delete from|where|order by|and|or)\b/;
const SQL_CHANGES: readonly (readonly [RegExp, string])[] = [
  [/(?<=\s)and(?=\s)/g, 'or'],
  [/(?<=\s)or(?=\s)/g, 'and'],
  [/(?<=\s)=(?=\s)/g, '<>'],
  [/(?<=\s)<(?=\s)/g, '<='],
  [/(?<=\s)<=(?=\s)/g, '<'],
  [/(?<=\s)>(?=\s)/g, '>='],
  [/(?<=\s)>=(?=\s)/g, '>'],
  [/\bdesc\b/g, 'asc'],
  [/\bis null\b/g, 'is not null'],
  [/\bis not null\b/g, 'is null'],
  [/\bnot exists\b/g, 'exists'],
  [/(?<!not )\bexists\b(?= \()/g, 'not exists'],
];

const sqlChanges = ({ quasis }: Node, source: string): Change[] => {
  const parts = Array.isArray(quasis) ? quasis.filter(isNode) : [];
  if (!parts.some(({ start, end }) => SQL.test(source.slice(start, end)))) return [];
  return parts.flatMap(({ start, end }) =>
    SQL_CHANGES.flatMap(([found, to]) =>
      [...source.slice(start, end).matchAll(found)].map(({ index, 0: matched }) => ({
        to,
        at: { start: start + index, end: start + index + matched.length },
      })),
    ),
  );
};
