import { publishing } from '#domain/publishing.ts';
import { operate } from './start.ts';

/** The operator's command line: `npm run annals -- help`. */
await operate(publishing);
