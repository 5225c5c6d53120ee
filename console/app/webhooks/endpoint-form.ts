import { useId, useState } from 'preact/hooks';
import type { Webhook } from '#shared/rest/webhook.ts';
import { useApi, useAsked } from '../base/asking.ts';
import { useFormKeys } from '../base/form-key.ts';
import { html } from '../base/html.ts';
import { Heading, Whole } from '../base/parts.ts';
import { ApiProblem, factsOf } from '../base/problem.ts';
import { go, type Route } from '../base/router.ts';
import { Secret } from '../clients/secret.ts';
import { useDomain } from '../data/domain.ts';
import { useDraft } from '../data/drafts.ts';
import { Form } from '../data/form.ts';
import { home, shortUrl } from './home.ts';
import { addressFields, atFields, bodyOf, moreFields, rawOf } from './settings.ts';
import { TestEvent } from './test-event.ts';

type Made = { readonly id: number; readonly secret: string; readonly url: string };

/** Creates an endpoint; then shows its secret once, and sends a first test event. */
export const NewWebhook = () => {
  const api = useApi();
  const [made, setMade] = useState<Made>();
  const sendOnce = useFormKeys();
  const create = async (body: object) => {
    const { body: written } = await sendOnce(body, (key) =>
      api.send<Made>('POST', '/webhooks', { body, key }),
    );
    setMade({ ...written, url: (body as Made).url });
  };
  return html`
    <p class="back"><a href=${home()}>All webhooks</a></p>
    <${Heading} title=${made ? 'Endpoint registered' : 'New endpoint'} />
    ${made ? html`<${Registered} made=${made} />` : html`<${EndpointForm} send=${create} doing="Register" back=${home()} />`}`;
};

const Registered = ({ made: { id, secret, url } }: { readonly made: Made }) => html`
  <p><strong>${shortUrl(url)}</strong> gets all matching events from now on.</p>
  <${Secret} secret=${secret} of="the receiver" />
  <p>The receiver verifies the signature of each request with it (<a href="/docs/webhooks">how</a>).</p>
  <div class="tools ways"><${TestEvent} path=${`/webhooks/${id}`} kind="primary" /><a class="button" href=${`${home()}/${id}`}>Open the endpoint</a></div>`;

/** A concurrent change of somebody else is refused. */
export const EditWebhook = ({ route: { parameters } }: { readonly route: Route }) => {
  const api = useApi();
  const path = `/webhooks/${parameters.id}`;
  const sendOnce = useFormKeys();
  const asked = useAsked<Webhook>(path);
  const back = `${home()}/${parameters.id}`;
  const change = async (body: object) => {
    const ifMatch = asked.etag;
    await sendOnce({ body, ifMatch }, (key) => api.send('PATCH', path, { body, ifMatch, key }));
    go(back);
  };
  return html`
    <p class="back"><a href=${back}>${asked.body ? shortUrl(asked.body.url) : `Webhook ${parameters.id}`}</a></p>
    <${Heading} title="Edit endpoint" />
    <${Whole} asked=${asked} show=${(webhook: Webhook) => html`<${EndpointForm} webhook=${webhook} send=${change} doing="Save" back=${back} />`} />`;
};

type EndpointFormOptions = {
  readonly webhook?: Webhook;
  readonly send: (body: object) => Promise<void>;
  readonly doing: string;
  readonly back: string;
};

/** `before`: the endpoint when the input began, so that only the user's own changes are sent. */
type Edited = {
  readonly raw: ReturnType<typeof rawOf>;
  readonly eventTypes: readonly string[];
  readonly before: Webhook | undefined;
};

const EndpointForm = ({ webhook, send, doing, back }: EndpointFormOptions) => {
  const { filters } = useDomain();
  const initial = (): Edited => ({
    raw: rawOf(webhook),
    eventTypes: webhook?.eventTypes ?? ['*'],
    before: webhook,
  });
  const isChanged = ({ raw, eventTypes, before }: Edited) =>
    JSON.stringify([raw, eventTypes]) !== JSON.stringify([rawOf(before), before?.eventTypes ?? ['*']]);
  const draft = useDraft<Edited>({ initial, isChanged });
  const { raw, eventTypes, before } = draft.content;
  const setRaw = (next: Edited['raw']) => draft.set({ ...draft.content, raw: next });
  const setEventTypes = (next: readonly string[]) => draft.set({ ...draft.content, eventTypes: next });
  const fields = [...addressFields, ...moreFields(filters)];
  const submit = () =>
    send(bodyOf(raw, eventTypes, filters, before)).then(draft.end, (error: unknown) => {
      throw error instanceof ApiProblem ? new ApiProblem(atFields(factsOf(error)), { cause: error }) : error;
    });
  return html`<${Form} fields=${fields} raw=${raw} setRaw=${setRaw} draft=${draft} send=${submit} doing=${doing} back=${back}
    remarks=${{ description: html`<${EventTypes} chosen=${eventTypes} change=${setEventTypes} />` }} />`;
};

type EventType = { readonly type: string; readonly description?: string };

const ALL = '*';
const kindInType = (type: string): string => type.split('.')[0] ?? '';

/** Adds or removes a type; all types of a kind replace its single types. */
export const toggled = (chosen: readonly string[], type: string): readonly string[] => {
  if (chosen.includes(type)) return chosen.filter((each) => each !== type);
  const kind = kindInType(type);
  return [
    ...chosen.filter((each) => !(type === `${kind}.*` && kindInType(each) === kind) && each !== ALL),
    type,
  ];
};

type EventTypesOptions = {
  readonly chosen: readonly string[];
  readonly change: (chosen: readonly string[]) => void;
};

/** Chooses the events to send: all, all of a kind, or single types. */
const EventTypes = ({ chosen, change }: EventTypesOptions) => {
  const { body: types = [] } = useAsked<readonly EventType[]>('/event-types');
  const name = useId();
  const isAll = chosen.includes(ALL);
  const kinds = [...Map.groupBy(types, ({ type }) => kindInType(type))];
  return html`<fieldset>
    <legend>Event types</legend>
    <label class="choice"><input type="radio" name=${name} checked=${isAll} onChange=${() => change([ALL])} /><span>All events<small>including types that are added later</small></span></label>
    <label class="choice"><input type="radio" name=${name} checked=${!isAll} onChange=${() => isAll && change([])} /><span>These types</span></label>
    ${!isAll && kinds.map(([kind, ofKind]) => html`<${Kind} key=${kind} kind=${kind} types=${ofKind} chosen=${chosen} change=${change} />`)}
  </fieldset>`;
};

type KindOptions = EventTypesOptions & { readonly kind: string; readonly types: readonly EventType[] };

const Kind = ({ kind, types, chosen, change }: KindOptions) => {
  const whole = `${kind}.*`;
  const isWhole = chosen.includes(whole);
  const many = isWhole ? types.length : types.filter(({ type }) => chosen.includes(type)).length;
  const box = (type: string, label: string, says: string | undefined, isFixed = false) =>
    html`<label class="choice"><input type="checkbox" checked=${isFixed || chosen.includes(type)} disabled=${isFixed} onChange=${() => change(toggled(chosen, type))} /><span>${label}${says && html`<small>${says}</small>`}</span></label>`;
  return html`<details class="types" open=${many > 0}>
    <summary>${kind} <span class="soft">${many} of ${types.length}</span></summary>
    ${box(whole, `All of ${kind}`, undefined)}
    ${types.map(({ type, description }) => box(type, type, description, isWhole))}
  </details>`;
};
