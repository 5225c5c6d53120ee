import { webhooksAt } from '../base/paths.ts';

/** The base address of the webhook pages here. */
export const home = (): string => webhooksAt(location.pathname);

/**
 * The page for a path of the interface: `/webhooks/6001` is at `/console/webhooks/6001`, or at
 * `/account/webhooks/6001`.
 */
export const pageAt = (path: string): string => path.replace(/^(?:\/api)?\/webhooks/, home());

export const pageOfDelivery = ({
  webhookId,
  id,
}: {
  readonly webhookId: number;
  readonly id: string;
}): string => `${home()}/${webhookId}/deliveries/${id}`;

/** Without the scheme, which does not distinguish addresses. */
export const shortUrl = (url: string): string => url.replace(/^https?:\/\//, '');
