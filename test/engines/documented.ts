import { publishing } from '#domain/publishing.ts';
import type { ProblemCode } from '#edge/http/problem.ts';
import { openApiDocument } from '../../query/openapi/document.ts';
import { DESCRIBED } from './operations.ts';

type Problems = {
  readonly content?: {
    readonly 'application/problem+json'?: { readonly examples: Readonly<Record<string, unknown>> };
  };
};
type Operation = { readonly operationId: string; readonly responses: Readonly<Record<string, Problems>> };

const document = openApiDocument({
  domain: publishing,
  publicUrl: 'https://annals.example',
  issuerUrl: 'https://annals.example',
  requireIfMatch: true,
});
const paths = document.paths as unknown as Readonly<Record<string, Readonly<Record<string, Operation>>>>;

const routes = Object.values(DESCRIBED).map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^(?:/api)?${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  operation: paths[path]?.[method.toLowerCase()],
}));

type Answered = {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly body: unknown;
};

/**
 * Checks that the answer of an operation is described in the OpenAPI document; all suites over HTTP use it.
 */
export const demandDocumented = ({ method, path, status, body }: Answered): void => {
  const asked = method === 'HEAD' ? 'GET' : method;
  const place = path.split('?')[0] ?? '';
  const operation = routes.find((route) => route.method === asked && route.pattern.test(place))?.operation;
  if (operation === undefined) return;
  const answer = operation.responses[status];
  const { code } = (typeof body === 'object' && body !== null ? body : {}) as { readonly code?: ProblemCode };
  const said = `${operation.operationId} answers ${status} ${status < 400 ? '' : code}`;
  if (answer === undefined) throw new Error(`${said}, which is not in the document`);
  if (status >= 400 && code !== undefined && !codesOf(answer).includes(code))
    throw new Error(`${said}, and the document has ${codesOf(answer)}`);
};

const codesOf = ({ content }: Problems): readonly string[] =>
  Object.keys(content?.['application/problem+json']?.examples ?? {});
