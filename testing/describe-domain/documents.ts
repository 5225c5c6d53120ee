import type { Checks } from './checks.ts';
import type { Stage } from './stage.ts';

type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: { readonly examples?: readonly unknown[] };
};
type Referred = { readonly $ref: string };
type Document = {
  readonly paths: Readonly<
    Record<string, { readonly get?: { readonly parameters?: readonly (Parameter | Referred)[] } }>
  >;
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> };
};

/** Every read of `/openapi.json` accepts its own examples: one request for each, as an administrator. */
export const checkExamples = async ({ ask, admin }: Stage, checks: Checks): Promise<void> => {
  const { paths, components } = (await ask('GET', '/openapi.json')).body as Document;
  for (const [path, { get }] of Object.entries(paths)) {
    const parameters = (get?.parameters ?? []).map((parameter) =>
      '$ref' in parameter ? referred(components.parameters, parameter) : parameter,
    );
    for (const given of get === undefined ? [] : callsOf(parameters)) {
      const { status, body } = await ask('GET', addressOf(path, given), {
        token: admin.token,
        headers: Object.fromEntries(valuesIn('header', given)),
      });
      const what = given.map(({ parameter: { name }, value }) => `${name}=${value}`).join(', ');
      checks.equal(
        isAccepted(status),
        true,
        `GET ${path} accepts its examples ${what}: ${status} ${JSON.stringify(body)}`,
      );
    }
  }
};

const referred = (parameters: Document['components']['parameters'], { $ref }: Referred): Parameter => {
  const name = $ref.slice($ref.lastIndexOf('/') + 1);
  const parameter = parameters[name];
  if (parameter === undefined) throw new Error(`/openapi.json has no parameter ${name}`);
  return parameter;
};

type GivenParameters = readonly { readonly parameter: Parameter; readonly value: string }[];

/** The required parameters alone, and with each example of each other one. */
const callsOf = (parameters: readonly Parameter[]): readonly GivenParameters[] => {
  const all = parameters.map((parameter) =>
    (parameter.schema.examples ?? []).map((value) => ({ parameter, value: String(value) })),
  );
  const required = all.flatMap(([first]) => (first?.parameter.required === true ? [first] : []));
  const others = all.flat().filter(({ parameter }) => parameter.required !== true);
  return [required, ...others.map((each) => [...required, each])];
};

const valuesIn = (place: Parameter['in'], given: GivenParameters): readonly (readonly [string, string])[] =>
  given.flatMap(({ parameter, value }) => (parameter.in === place ? [[parameter.name, value] as const] : []));

const addressOf = (path: string, given: GivenParameters): string => {
  const inPath = new Map(valuesIn('path', given));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(inPath.get(name) ?? ''),
  );
  return `${filled}?${new URLSearchParams(Object.fromEntries(valuesIn('query', given)))}`;
};

/** Examples name items that need not exist here, and conditions that need not hold. */
const isAccepted = (status: number): boolean => status < 400 || status === 404 || status === 412;

const LINK = /href="(\/docs[^"#]*)/g;

/** Every page of the documentation that a link leads to is shown. */
export const checkPages = async ({ ask }: Stage, checks: Checks): Promise<void> => {
  const known = new Set(['/docs']);
  // The set grows while its pages are read.
  for (const page of known) {
    const { status, body } = await ask('GET', page);
    checks.equal(status, 200, `${page}: ${String(body).slice(0, 200)}`);
    for (const [, link = ''] of String(body).matchAll(LINK)) known.add(link.replaceAll('&amp;', '&'));
  }
};
