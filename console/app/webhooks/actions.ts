import { useState } from 'preact/hooks';
import type { Webhook } from '#shared/rest/webhook.ts';
import { useApi } from '../base/asking.ts';
import { Confirm } from '../base/confirm.ts';
import { useFormKeys } from '../base/form-key.ts';
import { html } from '../base/html.ts';
import { Act } from '../base/parts.ts';
import { go } from '../base/router.ts';
import { Secret } from '../clients/secret.ts';
import { home, shortUrl } from './home.ts';
import { TestEvent } from './test-event.ts';

/** The actions on an endpoint in its current state. */
export const Actions = ({
  webhook: { id, url, enabled, missedSince },
  reload,
}: {
  readonly webhook: Webhook;
  readonly reload: () => void;
}) => {
  const api = useApi();
  const [secret, setSecret] = useState<string>();
  const path = `/webhooks/${id}`;
  const send = async (way: string) => {
    await api.send('POST', `${path}/${way}`);
    reload();
  };
  const rotate = async () => {
    setSecret((await api.send<{ readonly secret: string }>('POST', `${path}/rotate-secret`)).body.secret);
    reload();
  };
  const remove = async () => {
    await api.send('DELETE', path);
    go(home());
  };
  return html`
    ${secret && html`<${Secret} secret=${secret} of="the receiver" />`}
    <div class="tools ways">
      ${enabled ? html`<${TestEvent} path=${path} />` : html`<${Act} kind="primary" act=${() => send('enable')}>Enable<//>`}
      ${enabled && html`<${ReplayButton} path=${path} isMissing=${missedSince !== undefined} done=${reload} />`}
      <${Confirm} label="New secret" title="Give this endpoint a new secret?" doing="Create a new secret" act=${rotate}>
        <p>For 24 hours each request is signed with both secrets, so that the receiver can switch to the new one.</p>
      <//>
      ${
        enabled &&
        html`<${Confirm} label="Disable" kind="danger" title="Disable this endpoint?" doing="Disable it" act=${() => send('disable')}>
          <p>Nothing is sent to ${shortUrl(url)} until you enable it. To send the events that it misses, replay them afterwards.</p>
        <//>`
      }
      <${Confirm} label="Delete" kind="danger" title="Delete this endpoint?" doing="Delete it" act=${remove}>
        <p>Nothing more is sent to ${shortUrl(url)}. Its deliveries and attempts are deleted. This cannot be undone.</p>
      <//>
    </div>`;
};

type ReplayOptions = { readonly path: string; readonly isMissing: boolean; readonly done: () => void };

const ReplayButton = ({ path, isMissing, done }: ReplayOptions) => {
  const api = useApi();
  const sendOnce = useFormKeys();
  const replay = async () => {
    const from = document.querySelector<HTMLInputElement>('#replay-from')?.value.trim() ?? '';
    const body = from === '' ? {} : { from: momentOf(from) };
    await sendOnce(body, (key) => api.send('POST', `${path}/replay`, { body, key }));
    done();
  };
  return html`<${Confirm} label="Replay" title="Send all events again?" doing="Replay" act=${replay}>
    <p>All matching events since then are sent again, with the same ids, including those already delivered.</p>
    <label for="replay-from">Since</label>
    <input id="replay-from" type="text" spellcheck="false" autocapitalize="off" required=${!isMissing} placeholder="2026-11-21T15:00:00Z, or a cursor" aria-describedby="replay-hint" />
    <p id="replay-hint" class="soft">A time (RFC 3339) or a cursor.${isMissing && ' Leave it empty to send the missed events.'}</p>
  <//>`;
};

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** A date alone means midnight UTC. */
export const momentOf = (text: string): string => (DATE.test(text) ? `${text}T00:00:00Z` : text);
