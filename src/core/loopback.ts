const names = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i

/** Whether a host is this machine to itself, so that nobody else hears or reaches what goes there. */
export function isLoopback(host: string): boolean {
  return names.test(host)
}
