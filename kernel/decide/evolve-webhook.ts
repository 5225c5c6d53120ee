import { anyWebhook } from '../webhook/webhook.ts';
import { evolveOf } from './evolve.ts';

export const evolveWebhook = evolveOf(anyWebhook);
