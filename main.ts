import { served } from './served.ts';
import { start } from './start.ts';

await start(served);
