import { daemonEvents } from './daemon-events.ts'
import { sandboxEvents } from './sandbox-events.ts'
import { serviceEvents } from './service-events.ts'

/** Everything that is ever logged. docs/logs.md is made of it. */
export const events = { ...daemonEvents, ...serviceEvents, ...sandboxEvents } as const

export type EventName = keyof typeof events
