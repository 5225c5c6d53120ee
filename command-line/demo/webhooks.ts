import type { DemoWebhook, Scene } from '#kernel/demo/demo.ts';

const ADMINISTRATOR = 0;
/** Nothing listens at the discard port (RFC 863). */
const MOVED_TO = 'http://127.0.0.1:9/hooks';
/** For installations whose webhooks must not lead to this machine: reserved names (RFC 2606). */
const ELSEWHERE = 'https://hooks.example';
const ELSEWHERE_MOVED = 'https://moved.hooks.example/hooks';
const MOVES_AFTER_MINUTES = 55;

/** Registers the webhooks; one of them is then moved to an address where nobody listens. */
export const scenesOfWebhooks = (
  webhooks: readonly DemoWebhook[],
  receiverUrl: string | undefined,
): readonly Scene[] =>
  webhooks
    .filter(({ receiver }) => receiverUrl !== undefined || receiver === 'moved')
    .flatMap((webhook) => scenesOf(webhook, receiverUrl));

const scenesOf = (webhook: DemoWebhook, receiverUrl: string | undefined): readonly Scene[] => {
  const { path, receiver, registered, ...content } = webhook;
  let webhookId = 0;
  const registering: Scene = {
    at: registered,
    async play({ send }) {
      webhookId = (
        await send(ADMINISTRATOR, {
          type: 'RegisterWebhook',
          ...content,
          url: `${receiverUrl ?? ELSEWHERE}${path}`,
        })
      ).id;
    },
  };
  if (receiver !== 'moved') return [registering];
  const url = receiverUrl === undefined ? ELSEWHERE_MOVED : MOVED_TO;
  const moving: Scene = {
    at: registered + MOVES_AFTER_MINUTES,
    play: async ({ send }) => void (await send(ADMINISTRATOR, { type: 'EditWebhook', webhookId, url })),
  };
  return [registering, moving];
};
