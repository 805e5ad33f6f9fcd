/** Switches of the service's own errors: docs/deposit-service.md has the list. */
export type ServiceFaults = {
  set: (rates: Readonly<Record<string, number | string>>) => Promise<void>
  clear: () => Promise<void>
}
