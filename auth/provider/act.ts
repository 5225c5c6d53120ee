/** The agent, and the application from which it has its rights, as a token names them (RFC 8693). */
export type Act = { readonly sub: string; readonly act: { readonly sub: string } };
