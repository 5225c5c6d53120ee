import { describeProblem, type ProblemCode } from '#shared/http/problem.ts';
import type { JsonObject } from '#shared/json.ts';
import { type Policy, scopeOf } from '#shared/policy.ts';
import { IMAGE_TYPES } from '#shared/rest/articles.ts';
import { headers, refusal } from './answers.ts';
import { ALWAYS } from './problems.ts';

const picture = { content: Object.fromEntries(IMAGE_TYPES.map((type) => [type, {}])), headers: headers('ETag', 'Cache-Control') };

const CODES: readonly ProblemCode[] = [...ALWAYS.filter((code) => code !== 'not_acceptable'), 'not_found', 'range_not_satisfiable'];
const BY_STATUS = Map.groupBy(CODES, (code) => describeProblem(code).status);

const NAME = {
  name: 'name',
  in: 'path',
  required: true,
  schema: { type: 'string', examples: ['8001-0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b.png'] },
};

/** As a signed address has them. */
const SIGNATURE = ['until', 'signature'].map((name) => ({
  name,
  in: 'query',
  schema: { type: 'string' },
  description: 'Of a signed address.',
}));

const optionalToken = (policy: Policy) => [{}, { oauth: [scopeOf(policy, 'article.read')] }, { bearer: [] }];

/** The pictures, which are read by the address that an article names, and belong to no resource of their own. */
export const uploadPaths = (policy: Policy): JsonObject => ({
  '/uploads/{name}': {
    get: {
      operationId: 'getUpload',
      tags: ['Articles'],
      summary: 'A picture that was uploaded',
      description:
        'For whoever may read the article: of a published one for everybody, of a draft with a token, or by a signed address. It may be read in parts, by `Range`.',
      parameters: [NAME, ...SIGNATURE, { $ref: '#/components/parameters/IfNoneMatch' }],
      responses: {
        200: { description: 'The picture.', ...picture },
        206: { description: 'The part of the picture that `Range` names.', ...picture },
        304: { description: 'You have it already, as If-None-Match says.', headers: headers('ETag', 'Cache-Control') },
        ...Object.fromEntries([...BY_STATUS].map(([status, codes]) => [status, refusal(status, codes)])),
      },
      security: optionalToken(policy),
    },
  },
  '/uploads/{name}/address': {
    get: {
      operationId: 'getUploadAddress',
      tags: ['Articles'],
      summary: 'An address of a picture that needs no token',
      description:
        'For whoever may read the article, to show its picture where no token can be sent, such as in `<img>`. It is good for five minutes.',
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
                  expiresAt: { type: 'string', format: 'date-time', description: 'When it stops working.' },
                },
              },
            },
          },
          headers: headers('Cache-Control'),
        },
        ...Object.fromEntries(
          [...BY_STATUS].filter(([status]) => status !== 416).map(([status, codes]) => [status, refusal(status, codes)]),
        ),
      },
      security: optionalToken(policy),
    },
  },
});
