const names = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i

/** True if the host is this machine itself, so that no other machine can read or reach that traffic. */
export function isLoopback(host: string): boolean {
  return names.test(host)
}
