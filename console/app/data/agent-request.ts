import type { FieldFacts, KindFacts } from '../../domain-facts.ts';
import { useApi, useAsked } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { Act, Table } from '../base/parts.ts';
import { kindNamed, pageOf, pageOfItem, titleOf, useDomain } from './domain.ts';
import type { Item } from './links.ts';
import { Value } from './value.ts';

type Options = {
  readonly kind: KindFacts;
  readonly request: Item;
  readonly reload: () => void;
};

type Input = Readonly<Record<string, unknown>>;

/** A command that an agent asks for: what it would do, and the two answers of a person. */
export const AgentRequest = ({ kind, request, reload }: Options) => {
  const domain = useDomain();
  const confirmed = kind.confirms?.find(({ type }) => type === request.command);
  const target = kindNamed(domain, confirmed?.kind);
  const command = target?.commands.find(({ name }) => name === confirmed?.command);
  if (target === undefined || command === undefined)
    return html`<section><h2>The request</h2><p>Its command no longer needs a person: decline it.</p><${Answers} kind=${kind} request=${request} reload=${reload} version=${undefined} /></section>`;
  const input = inputOf(request);
  const isCreation = confirmed?.isCreation === true;
  const what = html`<strong>${command.says ?? `${command.title} ${target.title.toLowerCase()}`}</strong>`;
  return html`<section>
    <h2>The request</h2>
    <p><code>${String(request.agent)}</code> asks: ${what}${isCreation && html` in <a href=${pageOf(target)}>${target.plural}</a>`}.</p>
    ${
      isCreation
        ? html`<${Changes} fields=${command.form} input=${input} before=${undefined} />
          <${Answers} kind=${kind} request=${request} reload=${reload} version=${undefined} />`
        : html`<${OnItem} kind=${kind} request=${request} reload=${reload} target=${target} fields=${command.form} input=${input} isOfItem=${command.list !== undefined} />`
    }
  </section>`;
};

const inputOf = ({ input }: Item): Input | undefined => {
  if (typeof input !== 'string') return undefined;
  return JSON.parse(input) as Input;
};

type OnItemOptions = Options & {
  readonly target: KindFacts;
  readonly fields: readonly FieldFacts[];
  readonly input: Input | undefined;
  /** Whether the command changes an item of a list, whose values are not compared. */
  readonly isOfItem: boolean;
};

const versionIn = (etag: string | undefined): number | undefined => {
  const [, version] = /^(?:W\/)?"(\d+)-/.exec(etag ?? '') ?? [];
  return version === undefined ? undefined : Number(version);
};

const OnItem = ({ kind, request, reload, target, fields, input, isOfItem }: OnItemOptions) => {
  const { body: item, etag, problem } = useAsked<Item>(String(request.target));
  if (item === undefined)
    return (
      problem &&
      html`<p>The ${target.title.toLowerCase()} cannot be read: it was deleted, or you may not read it.</p>`
    );
  const version = versionIn(etag);
  const isChanged = request.status === 'open' && version !== undefined && version !== request.targetVersion;
  return html`
    <p>${target.title}: <a href=${pageOfItem(target, item.id)}><bdi>${titleOf(target, item)}</bdi></a></p>
    ${isChanged && html`<p class="finding bad" role="status">It has changed since the agent asked: version ${String(request.targetVersion)} then, ${version} now. You approve the change of the present one.</p>`}
    <${Changes} fields=${fields} input=${input} before=${isOfItem || request.status !== 'open' ? undefined : item} />
    <${Answers} kind=${kind} request=${request} reload=${reload} version=${isChanged ? version : undefined} />`;
};

type ChangesOptions = {
  readonly fields: readonly FieldFacts[];
  readonly input: Input | undefined;
  readonly before: Item | undefined;
};

/** The fields before and after. A JSON patch is shown as it was sent. */
const Changes = ({ fields, input, before }: ChangesOptions) => {
  if (input === undefined) return html`<p>Its content was erased with a person.</p>`;
  if (input.patch !== undefined)
    return html`<pre tabindex="0"><code>${JSON.stringify(input.patch, null, 2)}</code></pre>`;
  const given = fields.filter(({ wire }) => input[wire] !== undefined);
  if (given.length === 0) return null;
  const name = { label: 'Field', cell: ({ title }: FieldFacts) => title };
  const now = {
    label: 'Now',
    cell: (field: FieldFacts) =>
      before && html`<${Value} field=${field} value=${before[field.name]} links=${before._links} />`,
  };
  const after = {
    label: before ? 'After' : 'Value',
    cell: (field: FieldFacts) =>
      field.type === 'ref'
        ? String(input[field.wire])
        : html`<${Value} field=${field} value=${input[field.wire]} links=${{}} />`,
  };
  return html`<${Table} caption="The fields that would change" columns=${before ? [name, now, after] : [name, after]} items=${given} keyOf=${({ wire }: FieldFacts) => wire} />`;
};

type AnswersOptions = Options & { readonly version: number | undefined };

/** Nothing is approved by opening the page. */
const Answers = ({ request, reload, version }: AnswersOptions) => {
  const api = useApi();
  const { approve, decline } = request._links;
  const send = (href: string, body: object | undefined) => async () => {
    await api.send('POST', href, body && { body });
    reload();
  };
  if (approve?.method === undefined && decline?.method === undefined) return null;
  return html`<p class="tools">
    ${approve?.method && html`<${Act} kind="primary" act=${send(approve.href, version === undefined ? {} : { targetVersion: version })}>Approve<//>`}
    ${decline?.method && html`<${Act} act=${send(decline.href, undefined)}>Decline<//>`}
  </p>`;
};
