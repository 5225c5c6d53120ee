// Over 200 lines, because it is one table: each wrong request to GraphQL, with the status and code of its
// answer.
import type { Ask } from '../../testing/http/rest-client.ts';

/** A request to `/graphql`; with a query in the address it is a GET. */
export type Sent = Ask & { readonly method?: string; readonly query?: Readonly<Record<string, string>> };
type Case = readonly [name: string, sent: Sent, status: number, code: string];

const body = (query: string, variables?: unknown, more: object = {}): Sent => ({
  body: { query, variables, ...more },
});
const times = (count: number, part: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => part(index)).join(' ');
/** Alternating levels of posts and authors. */
const nested = (levels: number): string =>
  levels <= 1 ? '{ id }' : `{ ${levels % 2 === 0 ? 'posts(limit: 1)' : 'author'} ${nested(levels - 1)} }`;

export const REQUESTS: readonly Case[] = [
  ['a body that is no JSON', { body: '{"query": ' }, 400, 'malformed_body'],
  ['a body that is not in UTF-8', { body: new Uint8Array([0x22, 0xff, 0xfe, 0x22]) }, 400, 'malformed_body'],
  ['no body', { method: 'POST' }, 415, 'unsupported_media_type'],
  ['an empty body', { body: '' }, 400, 'malformed_body'],
  [
    'a name that stands twice',
    { body: '{"query":"{__typename}","query":"{me{id}}"}' },
    400,
    'malformed_body',
  ],
  [
    'a name twice in the variables',
    { body: '{"query":"{__typename}","variables":{"a":1,"a":2}}' },
    400,
    'malformed_body',
  ],
  [
    '__proto__ in the variables',
    { body: '{"query":"{__typename}","variables":{"__proto__":{"a":1}}}' },
    422,
    'invalid_request',
  ],
  [
    '__proto__ in the variables of a GET',
    { query: { query: '{ __typename }', variables: '{"__proto__":{"a":1}}' } },
    400,
    'malformed_request',
  ],
  [
    'what any page can send',
    { body: '{"query":"{__typename}"}', type: 'text/plain' },
    415,
    'unsupported_media_type',
  ],
  [
    'what any page can send, as if with files',
    { body: '{}', type: 'multipart/form-data; boundary=x' },
    400,
    'preflight_required',
  ],
  [
    'several requests in one',
    { body: [{ query: '{ __typename }' }, { query: '{ __typename }' }] },
    400,
    'malformed_request',
  ],
  ['a text', { body: '"{ __typename }"' }, 400, 'malformed_request'],
  ['a query that is a number', { body: { query: 1 } }, 400, 'malformed_request'],
  [
    'variables that are a list',
    { body: { query: '{ __typename }', variables: [1] } },
    400,
    'malformed_request',
  ],
  [
    'extensions that are a text',
    { body: { query: '{ __typename }', extensions: 'x' } },
    400,
    'malformed_request',
  ],
  ['no document', { body: { variables: {} } }, 400, 'document_missing'],
  [
    'a body too large',
    { body: { query: `{ __typename } #${'x'.repeat(1_100_000)}` } },
    413,
    'body_too_large',
  ],
  [
    'too many values',
    { body: { query: '{ __typename }', variables: { a: Array(20_000).fill(0) } } },
    413,
    'body_too_large',
  ],
  [
    'values too deep',
    { body: `{"query":"{__typename}","variables":{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}}` },
    413,
    'body_too_large',
  ],
  [
    'another media type',
    { body: '{ __typename }', type: 'application/graphql' },
    415,
    'unsupported_media_type',
  ],
  [
    'a form',
    { body: 'query={__typename}', type: 'application/x-www-form-urlencoded' },
    415,
    'unsupported_media_type',
  ],
  [
    'another character set',
    { body: { query: '{ __typename }' }, type: 'application/json; charset=latin1' },
    415,
    'unsupported_media_type',
  ],
  ['another Accept', { ...body('{ __typename }'), headers: { accept: 'text/csv' } }, 406, 'not_acceptable'],
  [
    'another Accept of a GET',
    { query: { query: '{ __typename }' }, headers: { accept: 'image/png' } },
    406,
    'not_acceptable',
  ],
  ['a PATCH', { ...body('{ __typename }'), method: 'PATCH' }, 405, 'method_not_allowed'],
  ['a DELETE that names no operation', { method: 'DELETE' }, 400, 'malformed_request'],
  ['a mutation by GET', { query: { query: 'mutation { deleteUser(id: 1) }' } }, 405, 'method_not_allowed'],
  [
    'a mutation by GET among queries',
    { query: { query: 'query A { __typename } mutation B { deleteUser(id: 1) }', operationName: 'B' } },
    405,
    'method_not_allowed',
  ],
  ['a GET without a document', { query: { variables: '{}' } }, 400, 'document_missing'],
  [
    'variables of a GET that are no JSON',
    { query: { query: '{ __typename }', variables: '{' } },
    400,
    'malformed_request',
  ],
  [
    'a name twice in variables of a GET',
    { query: { query: '{ __typename }', variables: '{"a":1,"a":2}' } },
    400,
    'malformed_request',
  ],
  [
    'a token that is none',
    { ...body('{ __typename }'), headers: { authorization: 'Bearer nonsense' } },
    401,
    'invalid_token',
  ],
  [
    'an idempotency key that is none',
    { ...body('mutation { deletePost(id: 1) }'), headers: { 'idempotency-key': 'a b' } },
    400,
    'malformed_request',
  ],
  [
    'a cursor of another installation',
    { ...body('{ __typename }'), headers: { 'consistency-token': 'nonsense' } },
    400,
    'unknown_cursor',
  ],
];

const USER_BY_ID = 'query ($id: ID!) { user(id: $id) { id } }';
const LIST = 'query ($limit: Int) { posts(limit: $limit) { id } }';
const ADD = 'mutation ($input: PostInput!) { createPost(input: $input) { id } }';
const HOOK =
  'mutation ($headers: [WebhookHeader!]) { registerWebhook(input: { url: "http://127.0.0.1:9/", eventTypes: ["*"], headers: $headers }) { secret } }';
const header = (name: string, value: string): Sent => body(HOOK, { headers: [{ name, value }] });
const input = (more: object) => ({ input: { title: 'T', body: '', ...more } });

/** Refused before any of it runs: 200 for clients that accept the former media type, 400 for others. */
export const OPERATIONS: readonly (readonly [name: string, sent: Sent, code: string])[] = [
  ['a document that is none', body('{'), 'malformed_document'],
  ['an empty document', body(' # nothing'), 'malformed_document'],
  ['a text without an end', body(`{ user(id: "${'x'.repeat(10_000)}) { id } }`), 'malformed_document'],
  ['an empty selection', body('{ users {} }'), 'malformed_document'],
  ['braces without an end', body('{a'.repeat(900)), 'too_nested'],
  ['a field that is not there', body('{ nothing }'), 'invalid_document'],
  ['a field of all objects', body('{ constructor __proto__ hasOwnProperty }'), 'invalid_document'],
  ['an argument that is not there', body('{ users(toString: 1) { id } }'), 'invalid_document'],
  ['an object without a selection', body('{ users }'), 'invalid_document'],
  [
    'fragments in a circle',
    body('{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }'),
    'invalid_document',
  ],
  [
    'a fragment within itself',
    body('{ users { ...A } } fragment A on User { posts { author { ...A } } }'),
    'invalid_document',
  ],
  ['a fragment that is not there', body('{ ...constructor }'), 'invalid_document'],
  ['fields that conflict', body('{ a: user(id: 1) { id } a: user(id: 2) { id } }'), 'invalid_document'],
  ['a variable that is not declared', body('{ user(id: $id) { id } }'), 'invalid_document'],
  ['a literal of another type', body('{ users(limit: "10") { id } }'), 'invalid_document'],
  ['a limit beyond 32 bits', body('{ users(limit: 99999999999) { id } }'), 'invalid_document'],
  [
    'an unknown name of an enumeration',
    body('{ posts(filter: { status: secret }) { id } }'),
    'invalid_document',
  ],
  ['a subscription', body('subscription { nothing }'), 'invalid_document'],
  ['the schema', body('{ __schema { types { name } } }'), 'introspection_off'],
  ['a type of the schema', body('{ __type(name: "User") { name } }'), 'introspection_off'],
  [
    'an operation that is not there',
    body('query A { __typename }', {}, { operationName: 'B' }),
    'operation_not_found',
  ],
  [
    'several operations, and none is named',
    body('query A { __typename } query B { __typename }'),
    'operation_not_named',
  ],
  ['only a fragment', body('fragment A on Query { __typename }'), 'invalid_document'],
  ['a variable that is missing', body(USER_BY_ID), 'invalid_variables'],
  ['a variable that is null', body(USER_BY_ID, { id: null }), 'invalid_variables'],
  ['an object for an id', body(USER_BY_ID, { id: { toString: 'x' } }), 'invalid_variables'],
  ['a list for an id', body(USER_BY_ID, { id: [1] }), 'invalid_variables'],
  ['a text for a number', body(LIST, { limit: '1' }), 'invalid_variables'],
  ['half a number', body(LIST, { limit: 0.5 }), 'invalid_variables'],
  ['a number beyond 32 bits', body(LIST, { limit: 2 ** 40 }), 'invalid_variables'],
  ['an input with an unknown field', body(ADD, input({ secret: 1 })), 'invalid_variables'],
  [
    'an input with a field of all objects',
    body(ADD, input({ constructor: {}, toString: 1 })),
    'invalid_variables',
  ],
  ['an input without a field', body(ADD, { input: { title: 'T' } }), 'invalid_variables'],
  ['too deep', body(`{ users(limit: 1) ${nested(11)} }`), 'too_deep'],
  [
    'too deep by fragments',
    body(
      `{ ...F0 } fragment F0 on Query { users(limit: 1) { ...F1 } } ${times(12, (at) => `fragment F${at + 1} on User { posts(limit: 1) { author { ...F${at + 2} } } }`)} fragment F13 on User { id }`,
    ),
    'too_deep',
  ],
  ['lists in lists', body(`{ users(limit: ${'['.repeat(1_900)}`), 'too_nested'],
  [
    'lists in lists that end',
    body(`{ users(limit: ${'['.repeat(700)}1${']'.repeat(700)}) { id } }`),
    'too_nested',
  ],
  ['objects in objects', body(`{ users(limit: ${'{a:'.repeat(900)}`), 'too_nested'],
  ['a type of lists of lists', body(`query ($a: ${'['.repeat(1_900)}`), 'too_nested'],
  ['brackets in a text', body(`{ users(limit: "${'['.repeat(1_900)}") { id } }`), 'invalid_document'],
  ['too many aliases', body(`{ users { ${times(31, (at) => `a${at}: id`)} } }`), 'too_many_aliases'],
  [
    'too many aliases by fragments',
    body(`{ users { ${'...A '.repeat(31)} } } fragment A on User { a: id }`),
    'too_many_aliases',
  ],
  [
    'too many directives',
    body(`{ users { id ${'@include(if: true) '.repeat(51)} } }`),
    'too_many_directives',
  ],
  ['too many root fields', body(`{ ${'__typename '.repeat(21)} }`), 'too_many_root_fields'],
  [
    'too many mutations',
    body(`mutation { ${times(21, () => 'deleteUser(id: 1)')} }`),
    'too_many_root_fields',
  ],
  [
    'fields that stand too often',
    body(`{ users(limit: 1) { ${'posts { id } '.repeat(490)} } }`),
    'too_repetitive',
  ],
  ['too many tokens', body(`{ users { ${'id '.repeat(3_000)} } }`), 'too_many_tokens'],
  ['a megabyte of tokens', body(`{ ${'a '.repeat(500_000)} }`), 'too_many_tokens'],
  [
    'fragments that double',
    body(
      `{ ...F0 } ${times(40, (at) => `fragment F${at} on Query { ...F${at + 1} ...F${at + 1} }`)} fragment F40 on Query { __typename }`,
    ),
    'too_many_root_fields',
  ],
  ['too costly', body('{ users(limit: 100) { posts(limit: 100) { id } } }'), 'too_costly'],
  [
    'too costly by a variable',
    body('query ($n: Int) { users(limit: $n) { posts(limit: $n) { id } } }', { n: 100 }),
    'too_costly',
  ],
  [
    'too costly by the default of a variable',
    body('query ($n: Int = 100) { users(limit: $n) { posts(limit: $n) { id } } }'),
    'too_costly',
  ],
  [
    'too costly by connections',
    body('{ usersConnection(first: 100) { edges { node { postsConnection(last: 20) { nodes { id } } } } } }'),
    'too_costly',
  ],
  ['a negative limit', body('{ users(limit: -1) { id } }'), 'limit_out_of_range'],
  ['a huge limit', body('{ users(limit: 101) { id } }'), 'limit_out_of_range'],
  ['a negative limit by a variable', body(LIST, { limit: -1 }), 'limit_out_of_range'],
  ['a huge limit by a variable', body(LIST, { limit: 2_000_000_000 }), 'limit_out_of_range'],
  ['a huge connection', body('{ postsConnection(first: 101) { nodes { id } } }'), 'limit_out_of_range'],
  [
    'a negative end',
    body('query ($n: Int) { postsConnection(last: $n) { totalCount } }', { n: -5 }),
    'limit_out_of_range',
  ],
];

/** Runs, and is refused at a field, whose path is in the error. */
export const FIELDS: readonly (readonly [name: string, sent: Sent, code: string])[] = [
  ['a garbage cursor', body('{ postsConnection(after: "garbage") { nodes { id } } }'), 'unknown_cursor'],
  [
    'a cursor of JSON',
    body(
      `{ usersConnection(before: "${Buffer.from('["x",0,1,"after"]').toString('base64url')}") { nodes { id } } }`,
    ),
    'unknown_cursor',
  ],
  [
    'a very long cursor',
    body('query ($c: String) { usersConnection(after: $c) { nodes { id } } }', { c: 'A'.repeat(500_000) }),
    'unknown_cursor',
  ],
  [
    'first and last together',
    body('{ postsConnection(first: 1, last: 1) { nodes { id } } }'),
    'invalid_parameter',
  ],
  [
    'a filter that cannot be stored',
    body('query ($q: String) { posts(filter: { search: $q }) { id } }', { q: 'a\0b' }),
    'invalid_parameter',
  ],
  [
    'a search that is too long',
    body('query ($q: String) { posts(filter: { search: $q }) { id } }', { q: 'a '.repeat(200) }),
    'invalid_parameter',
  ],
  ['an empty title', body(ADD, { input: { title: '', body: '' } }), 'invalid_request'],
  ['a title that is too long', body(ADD, { input: { title: 'x'.repeat(201), body: '' } }), 'invalid_request'],
  ['a lone surrogate', body(ADD, { input: { title: '\ud800', body: '' } }), 'invalid_request'],
  [
    'too many tags',
    body(ADD, input({ tags: Array.from({ length: 11 }, (_, at) => `t${at}`) })),
    'invalid_request',
  ],
  [
    'a title that is taken away',
    body('mutation { updatePost(id: 1, changes: { title: null }) { id } }'),
    'invalid_request',
  ],
  [
    'an e-mail address that is none',
    body('mutation { createUser(input: { name: "N", email: "none" }) { id } }'),
    'invalid_request',
  ],
  ['an article that is not there', body('mutation { publishPost(id: 1) { id } }'), 'article_not_found'],
  ['an id that is none', body('mutation { deletePost(id: "../../etc/passwd") }'), 'article_not_found'],
  ['an id beyond all', body('mutation { deleteComment(id: "99999999999999999999") }'), 'comment_not_found'],
  ['a negative version', body('mutation { deleteUser(id: 1, ifVersion: -1) }'), 'invalid_command'],
  ['a header of a webhook with a line in its value', header('X-Team', 'a\r\nX-Evil: yes'), 'invalid_request'],
  ['a header of a webhook with a line in its name', header('X-Team: a\r\nX-Evil', 'yes'), 'invalid_request'],
  ['a header of a webhook that is ours to send', header('Webhook-Signature', 'v1,AAAA'), 'invalid_request'],
  [
    'a header of a webhook twice',
    body(HOOK, { headers: ['a', 'b'].map((value) => ({ name: 'X-Team', value })) }),
    'invalid_request',
  ],
  ['a header of a webhook named __proto__', header('__proto__', 'yes'), 'invalid_request'],
];
