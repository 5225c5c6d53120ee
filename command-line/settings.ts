import { settingsTable } from '#shared/process/settings.ts';
import type { Command } from './command.ts';

export const settings: Command = {
  name: 'settings',
  summary: 'Lists the settings (environment variables) with their defaults, as a table in Markdown.',
  positionals: [],
  options: {},
  examples: ['settings'],
  run: (_given, terminal) => terminal.write(settingsTable()),
};
