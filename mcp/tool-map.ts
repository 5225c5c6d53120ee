import type { Json, JsonObject } from '#kernel/base/json.ts';
import type { Tool } from './tools.ts';

/** A tool, and the arguments that are in a path. */
type Found = { readonly tool: Tool; readonly given: JsonObject };

export type ToolMap = (method: string, path: string) => Found | undefined;

/** Finds the tool of a path by its segments, however many tools there are. */
export const toolMapOf = (tools: readonly Tool[]): ToolMap => {
  const root = newNode();
  for (const tool of tools) {
    const { method, path } = tool.operation;
    let node = root;
    for (const segment of segmentsOf(path)) node = stepFor(node, segment);
    node.tools.set(method, tool);
  }
  return (method, path) => {
    const tool = search(root, segmentsOf(path), method);
    const given = tool && argumentsIn(tool, path);
    return tool && given && { tool, given };
  };
};

type Node = {
  readonly literals: Map<string, Node>;
  parameter: Node | undefined;
  readonly tools: Map<string, Tool>;
};

const newNode = (): Node => ({ literals: new Map(), parameter: undefined, tools: new Map() });

const PARAMETER = /^\{(\w+)\}$/;

const stepFor = (node: Node, segment: string): Node => {
  if (PARAMETER.test(segment)) {
    node.parameter ??= newNode();
    return node.parameter;
  }
  const next = node.literals.get(segment) ?? newNode();
  node.literals.set(segment, next);
  return next;
};

/** A literal segment comes before a parameter. It branches at most once for each segment of a declared path. */
const search = (node: Node, [segment, ...rest]: readonly string[], method: string): Tool | undefined => {
  if (segment === undefined) return node.tools.get(method);
  const literal = node.literals.get(segment);
  return (
    (literal && search(literal, rest, method)) ??
    (node.parameter && segment !== '' ? search(node.parameter, rest, method) : undefined)
  );
};

/** `/api` before a path is the same resource. */
const segmentsOf = (path: string): readonly string[] =>
  path
    .replace(/^\/api(?=\/)/, '')
    .split('/')
    .slice(1);

const argumentsIn = (tool: Tool, path: string): JsonObject | undefined => {
  const texts = segmentsOf(path);
  const given: Record<string, Json> = {};
  for (const [at, segment] of segmentsOf(tool.operation.path).entries()) {
    const [, name] = PARAMETER.exec(segment) ?? [];
    if (name === undefined) continue;
    const text = decoded(texts[at] ?? '');
    if (text === undefined) return undefined;
    given[name] = argumentIn(tool, name, text);
  }
  return given;
};

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

/** A longer number would not be exact. */
const NUMBER = /^[1-9]\d{0,14}$/;

/** The text of an argument as its schema wants it. */
export const argumentIn = ({ inputSchema }: Tool, name: string, text: string): Json =>
  NUMBER.test(text) && isNumber(inputSchema, (inputSchema.properties as Schemas)[name]) ? Number(text) : text;

type Schemas = Readonly<Record<string, JsonObject | undefined>>;

const isNumber = (root: JsonObject, { type, $ref }: JsonObject = {}): boolean =>
  typeof $ref === 'string'
    ? isNumber(root, (root.$defs as Schemas)[$ref.slice('#/$defs/'.length)])
    : type === 'integer' || type === 'number';
