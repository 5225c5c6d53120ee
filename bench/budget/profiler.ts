import { rename, writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';

// Loaded by a server that is to be profiled: one signal starts a profile, the next writes it to PROFILE_TO.
const SAMPLE_EVERY_US = 200;
const session = new Session();
session.connect();
let isRunning = false;

process.on('SIGUSR2', async () => {
  isRunning = !isRunning;
  if (isRunning) {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_EVERY_US });
    await session.post('Profiler.start');
  } else {
    const { profile } = await session.post('Profiler.stop');
    const path = String(process.env.PROFILE_TO);
    await writeFile(`${path}.part`, JSON.stringify(profile));
    await rename(`${path}.part`, path);
  }
});
