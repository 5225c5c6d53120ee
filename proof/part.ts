import type { ProjectorPart } from '../projector/part.ts';
import { countChained, startAudit } from './service.ts';

/** The proof as the projector role runs it, beside the projection. */
export const part: ProjectorPart = {
  start: ({ config, ...dependencies }) => startAudit({ ...dependencies, settings: config.audit }),
  countEvents: countChained,
};
