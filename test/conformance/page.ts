import type { Section } from './fact.ts'
import { authentication } from './sections/authentication.ts'
import { endpoints } from './sections/endpoints.ts'
import { resources } from './sections/resources.ts'
import { service } from './sections/service.ts'

/** Every statement of the interface page, and every gap that it names, in its order. */
export const page: readonly Section[] = [service, ...resources, ...endpoints, ...authentication]
