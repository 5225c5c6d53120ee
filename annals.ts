import { served } from './served.ts';
import { operate } from './start.ts';

/** The operator's command line: `npm run annals -- help`. */
await operate(served);
