import { describeProblem, type ProblemCode } from '#shared/http/problem.ts';
import type { JsonObject } from '#shared/json.ts';
import { IMAGE_TYPES } from '#shared/rest/articles.ts';
import { headers, refusal } from './answers.ts';
import { ALWAYS } from './problems.ts';

const picture = { content: Object.fromEntries(IMAGE_TYPES.map((type) => [type, {}])), headers: headers('ETag', 'Cache-Control') };

const CODES: readonly ProblemCode[] = [...ALWAYS.filter((code) => code !== 'not_acceptable'), 'not_found', 'range_not_satisfiable'];
const BY_STATUS = Map.groupBy(CODES, (code) => describeProblem(code).status);

/** The pictures, which are read by the address that an article names, and belong to no resource of their own. */
export const UPLOADS: JsonObject = {
  '/uploads/{name}': {
    get: {
      operationId: 'getUpload',
      tags: ['Articles'],
      summary: 'A picture that was uploaded',
      description: 'For everybody who knows its address, as long as the article has it. It may be read in parts, by `Range`.',
      parameters: [
        {
          name: 'name',
          in: 'path',
          required: true,
          schema: { type: 'string', examples: ['8001-0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b.png'] },
        },
        { $ref: '#/components/parameters/IfNoneMatch' },
      ],
      responses: {
        200: { description: 'The picture.', ...picture },
        206: { description: 'The part of the picture that `Range` names.', ...picture },
        304: { description: 'You have it already, as If-None-Match says.', headers: headers('ETag', 'Cache-Control') },
        ...Object.fromEntries([...BY_STATUS].map(([status, codes]) => [status, refusal(status, codes)])),
      },
      security: [{}],
    },
  },
};
