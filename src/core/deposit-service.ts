import type { Brand } from './brand.ts'

/** The name of a deposit service. Ids that a service chooses are unique only within that service. */
export type ServiceName = Brand<string, 'ServiceName'>

/** The one deposit service that the settings name; the default of every `service` column. */
export const defaultService = 'default' as ServiceName
