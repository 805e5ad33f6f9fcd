import { openPrices } from '../deposits/prices.ts'
import type { Network } from '../network/port.ts'
import { type Loop, startLoop } from '../running/loop.ts'
import type { ServiceSettings } from '../settings.ts'
import { type NetworkWork, workNetwork } from './work-network.ts'

type Parts = Omit<NetworkWork, 'prices' | 'changed'> & {
  settings: ServiceSettings
  networks: readonly Network[]
  /** Called when there are events to deliver. */
  onEvents(): void
}

/** One loop per network works on its deposits and payments, and one reads prices where they have a source. */
export function startTransfers(parts: Parts): Loop[] {
  const { settings, networks, log } = parts
  const { quotes, pollEveryMs: everyMs } = settings
  const prices = openPrices(quotes, Date.now)
  const watching: Loop[] = []
  const changed = (): void => {
    for (const loop of watching) loop.wake()
    parts.onEvents()
  }
  for (const network of networks) {
    const turn = workNetwork({ ...parts, prices, changed }, network)
    watching.push(startLoop({ name: network.settings.name, everyMs, log }, turn))
  }
  if (quotes.source === null) return watching
  const reading = startLoop({ name: 'prices', everyMs: quotes.source.everyMs, log }, async (stopping) => {
    await prices.refresh(stopping)
    return false
  })
  return [...watching, reading]
}
