import { createHash } from 'node:crypto';
import {
  BREAK,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  Lexer,
  type OperationDefinitionNode,
  parse,
  Source,
  specifiedRules,
  TokenKind,
  validate,
  visit,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Operation } from '#kernel/base/operation.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { rightsOf } from '../rules/rights.ts';
import { bytesOfDocument, bytesOfRefused } from './document-size.ts';
import { dropTokens } from './drop-tokens.ts';
import { beyondLimit, type DocumentLimits } from './limits.ts';
import { findBeyondLimits } from './measure.ts';

/** A document that is valid and within the limits, with everything that is the same for every request. */
export type Prepared = {
  /** The schema that validated it. */
  readonly schema: GraphQLSchema;
  /** The SHA-256 of the text in hex: its name in caches and persisted requests. */
  readonly hash: string;
  readonly document: DocumentNode;
  readonly operations: readonly PreparedOperation[];
  /** True if it contains introspection. */
  readonly introspects: boolean;
};

export type PreparedOperation = {
  readonly node: OperationDefinitionNode;
  /** The rights that a caller must be admitted to before any of it runs. */
  readonly rights: ReadonlySet<Operation>;
};

export type Documents = {
  /** Parses, measures and validates a text once. The errors of an invalid document are cached too. */
  prepare(text: string): Prepared | readonly GraphQLError[];
};

const CACHE_BYTES = 32 * 1024 * 1024;
const ERRORS_MAX = 10;

type Options = {
  readonly domain: Domain;
  readonly schema: GraphQLSchema;
  readonly limits: DocumentLimits;
  /**
   * True if errors may suggest similar names of the schema. Callers who may not read the schema may not guess
   * it either.
   */
  readonly suggests: boolean;
};

export const createDocuments = (options: Options): Documents => {
  const known = new LRUCache<string, Prepared | readonly GraphQLError[]>({
    maxSize: CACHE_BYTES,
    sizeCalculation: (prepared, { length }) =>
      'document' in prepared ? bytesOfDocument(length) : bytesOfRefused(length, prepared.length),
  });
  return {
    prepare(text) {
      const found = known.get(text);
      if (found) return found;
      const prepared = prepare(options, text);
      const kept = 'document' in prepared ? prepared : prepared.map(alone);
      known.set(text, kept);
      return kept;
    },
  };
};

/**
 * The error without the document, and without the calls that made it: until a stack is read, it keeps all
 * that they worked on.
 */
const alone = ({ name, message, source, positions, extensions }: GraphQLError): GraphQLError =>
  Object.assign(new GraphQLError(message, { source, positions, extensions }), {
    stack: `${name}: ${message}`,
  });

const prepare = (
  { domain, schema, limits, suggests }: Options,
  text: string,
): Prepared | readonly GraphQLError[] => {
  const document = read(text, limits.tokensMax);
  if (document instanceof GraphQLError) return [document];
  const beyond = findBeyondLimits(document, limits);
  if (beyond.length > 0) return beyond;
  const errors = validate(schema, document, specifiedRules, {
    maxErrors: ERRORS_MAX,
    hideSuggestions: !suggests,
  });
  if (errors.some(isAborted))
    return [new GraphQLError(TOO_REPETITIVE, { extensions: { code: 'too_repetitive' } })];
  if (errors.length > 0) return errors.map((error) => withCode(error, 'invalid_document'));
  const nodes = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const operations = nodes.map((node) => ({ node, rights: rightsOf({ domain, schema }, document, node) }));
  const hash = createHash('sha256').update(text).digest('hex');
  return { schema, hash, document, operations, introspects: asksForSchema(document) };
};

/**
 * The library limits comparisons of fields with the same name, and reports the limit only by this message.
 */
const isAborted = ({ message }: GraphQLError): boolean => message === 'Validation aborted.';
const TOO_REPETITIVE =
  'The operation selects the same fields too often: checking whether they can be merged takes too long.';

/** The parser and the rules of validation call themselves for each level, until the stack is full. */
const NESTING_MAX = 200;
const OPENING = new Set<TokenKind>([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const CLOSING = new Set<TokenKind>([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/** Looks at no more tokens than the parser accepts. */
const isTooNested = (text: string, tokensMax: number): boolean => {
  // Nearly every document has fewer, so that its tokens are read only once, by the parser.
  if ((text.match(/[[{(]/g)?.length ?? 0) <= NESTING_MAX) return false;
  const lexer = new Lexer(new Source(text));
  let depth = 0;
  for (let count = 0; count <= tokensMax; count += 1) {
    const { kind } = lexer.advance();
    if (kind === TokenKind.EOF) return false;
    if (OPENING.has(kind)) depth += 1;
    if (CLOSING.has(kind)) depth -= 1;
    if (depth > NESTING_MAX) return true;
  }
  return false;
};

/** The parser counts tokens itself, and reports too many only by its message. */
const read = (text: string, tokensMax: number): DocumentNode | GraphQLError => {
  try {
    if (isTooNested(text, tokensMax)) return beyondLimit('too_nested', { max: NESTING_MAX });
    return dropTokens(parse(text, { maxTokens: tokensMax, allowEmptySelectionSets: false }));
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return error.message.includes('Parsing aborted')
      ? beyondLimit('too_many_tokens', { max: tokensMax })
      : withCode(error, 'malformed_document');
  }
};

const withCode = (error: GraphQLError, code: string): GraphQLError => {
  const { message, nodes, source, positions, extensions } = error;
  return new GraphQLError(message, { nodes, source, positions, extensions: { ...extensions, code } });
};

/** `_service` is a field of federation. */
const SCHEMA_FIELDS = new Set(['__schema', '__type', '_service']);

const asksForSchema = (document: DocumentNode): boolean => {
  let asks = false;
  visit(document, {
    Field: ({ name }) => {
      if (!SCHEMA_FIELDS.has(name.value)) return undefined;
      asks = true;
      return BREAK;
    },
  });
  return asks;
};
