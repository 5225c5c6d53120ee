import { describeProblem, type ProblemCode } from '#edge/http/problem.ts';
import { IMAGE_TYPES } from '#kernel/base/image-type.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { capital, spaced } from '#kernel/base/names.ts';
import { operationOf } from '#kernel/conditions/rights.ts';
import { isFileField } from '#kernel/decide/accepted-files.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import { policyOf, scopeOf } from '#shared/policy.ts';
import { headers, refusal } from './answers.ts';
import { ALWAYS } from './problems.ts';

/** The types that domains accept. */
const typesIn = (kinds: readonly Kind[]): readonly string[] => [
  ...new Set(
    defsIn(kinds).flatMap((def) => (def.kind === 'upload' ? [...(def.file?.types ?? IMAGE_TYPES)] : [])),
  ),
];

const defsIn = (kinds: readonly Kind[]): readonly FieldDef[] =>
  kinds.flatMap(({ fields, lists }) =>
    [fields, ...Object.values(lists).map((list) => list.fields)].flatMap((defs) => Object.values(defs)),
  );

/** How texts call the uploads of a domain. */
type Words = {
  readonly one: string;
  /** The use of an address without a token. */
  readonly use: string;
  readonly hasFiles: boolean;
};

const wordsOf = (kinds: readonly Kind[]): Words =>
  defsIn(kinds).some(isFileField)
    ? { one: 'file', use: 'gives its file without a token, for example in a link', hasFiles: true }
    : { one: 'picture', use: 'shows its picture without a token, for example in `<img>`', hasFiles: false };

const CODES: readonly ProblemCode[] = [
  ...ALWAYS.filter((code) => code !== 'not_acceptable'),
  'not_found',
  'version_mismatch',
  'range_not_satisfiable',
];
const BY_STATUS = Map.groupBy(CODES, (code) => describeProblem(code).status);

const NAME = {
  name: 'name',
  in: 'path',
  required: true,
  schema: { type: 'string', examples: ['8001-0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b.png'] },
};

/** The query parameters of a signed address. */
const SIGNATURE = ['until', 'signature'].map((name) => ({
  name,
  in: 'query',
  schema: { type: 'string' },
  description: 'From a signed address.',
}));

const IF = ['IfMatch', 'IfNoneMatch'].map((name) => ({ $ref: `#/components/parameters/${name}` }));

/** Of a file that is no picture. */
const DETAILS = {
  type: { type: 'string', description: 'The media type of a file that is no picture.' },
  bytes: { type: 'integer', description: 'Its size in bytes.' },
  sha256: { type: 'string', description: 'The SHA-256 digest of its content, in hexadecimal.' },
  name: { type: ['string', 'null'], description: 'The name that the client gave it, made safe.' },
};

/** The scopes of the kinds that have pictures. */
const optionalToken = (domain: Domain, kinds: readonly Kind[]): readonly JsonObject[] => {
  const scopes = kinds.map((kind) => scopeOf(policyOf(domain), operationOf(kind, 'read')));
  return [{}, ...scopes.map((scope) => ({ oauth: [scope] })), { bearer: [] }];
};

/** Pictures are read by the address that an item names, and belong to no resource of their own. */
export const uploadPaths = (domain: Domain): JsonObject => {
  const kinds = Object.values(domain.kinds).filter((kind) =>
    defsIn([kind]).some((def) => def.kind === 'upload'),
  );
  if (kinds.length === 0) return {};
  const { one, use, hasFiles } = wordsOf(kinds);
  const content = {
    content: Object.fromEntries(typesIn(kinds).map((type) => [type, {}])),
    headers: headers('ETag', 'Cache-Control'),
  };
  const own = new Intl.ListFormat('en', { type: 'disjunction' }).format(
    kinds.map(({ name }) => spaced(name)),
  );
  const tags = kinds.map(({ plural }) => capital(spaced(plural)));
  const security = optionalToken(domain, kinds);
  return {
    '/uploads/{name}': {
      get: {
        operationId: 'getUpload',
        tags,
        summary: `A ${one} that was uploaded`,
        description: `For callers who may read the ${own}: without a token if it is public, otherwise with a token or by a signed address. \`Range\` reads a part.`,
        parameters: [NAME, ...SIGNATURE, ...IF],
        responses: {
          200: { description: `The ${one}.`, ...content },
          206: { description: `The part of the ${one} that \`Range\` names.`, ...content },
          304: {
            description: 'Not modified: If-None-Match has the current ETag.',
            headers: headers('ETag', 'Cache-Control'),
          },
          ...Object.fromEntries([...BY_STATUS].map(([status, codes]) => [status, refusal(status, codes)])),
        },
        security,
      },
    },
    '/uploads/{name}/address': {
      get: {
        operationId: 'getUploadAddress',
        tags,
        summary: `An address of a ${one} that needs no token`,
        description: `For callers who may read the ${own}: an address that ${use}. It is valid for five minutes.`,
        parameters: [NAME],
        responses: {
          200: {
            description: 'The address.',
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  required: ['href', 'expiresAt'],
                  properties: {
                    href: { type: 'string', description: 'Relative to this server.' },
                    expiresAt: { type: 'string', format: 'date-time', description: 'When it expires.' },
                    ...(hasFiles && DETAILS),
                  },
                },
              },
            },
            headers: headers('Cache-Control'),
          },
          ...Object.fromEntries(
            [...BY_STATUS]
              .filter(([status]) => status !== 416)
              .map(([status, codes]) => [status, refusal(status, codes)]),
          ),
        },
        security,
      },
    },
  };
};
