import { readFileSync } from 'node:fs';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openWitnessStore } from '../../proof/witness/store.ts';
import { readKeyFile } from '../../proof/witness/witness-keys.ts';
import { startWitnessServer } from '../../proof/witness/witness-server.ts';

/** A witness that is killed when it has stored a head, before it answers. Prints its address. */
const [data = '', keys = ''] = process.argv.slice(2);
const store = openWitnessStore(data);
const { url } = await startWitnessServer({
  store: {
    ...store,
    advance: (origin, former, next) => {
      store.advance(origin, former, next);
      process.kill(process.pid, 'SIGKILL');
      return true;
    },
  },
  cosigners: readKeyFile(readFileSync(keys, 'utf8')) ?? [],
  listener: { host: '127.0.0.1', port: 0 },
  requestsPerSecond: 100,
  clock: REAL_TIME,
  onFailure: console.error,
});
console.log(url);
