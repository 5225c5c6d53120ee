import { useState } from 'preact/hooks';
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
import { EventTypes } from './event-types.ts';
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
