import type { AddedService } from '#process/service.ts';
import { startDispatcher } from './service.ts';

/** The dispatcher in a process with all roles. */
export const part: AddedService = { start: startDispatcher };
