import type { KernelCommandType } from '#shared/commands/command.ts';
import { admit } from '#shared/policy.ts';
import type { AnyHandler, HandlersOf } from '../handling/handler.ts';
import type { CommandPart } from '../part.ts';
import { webhookHandlers } from './handle.ts';

export const part: CommandPart = {
  handlersOf(dependencies) {
    // The compiler checks that every command of the kernel has a handler.
    const all: HandlersOf<KernelCommandType> = webhookHandlers(dependencies);
    return Object.fromEntries(
      Object.entries(all).map(([type, handler]) => {
        const admitted: AnyHandler['admit'] = (caller) => admit(caller, handler.operation);
        return [type, { ...(handler as Omit<AnyHandler, 'admit'>), admit: admitted }];
      }),
    );
  },
};
