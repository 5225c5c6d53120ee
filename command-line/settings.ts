import { settingsTable } from '#process/settings.ts';
import type { Command } from './arguments/command.ts';

export const settings: Command = {
  name: 'settings',
  summary: 'Prints all settings (environment variables) with their defaults, as a Markdown table.',
  positionals: [],
  options: {},
  examples: ['settings'],
  run: (_given, terminal) => terminal.write(settingsTable()),
};
