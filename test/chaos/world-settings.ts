import { readFileSync, writeFileSync } from 'node:fs'
import { parse, stringify } from 'yaml'
import { type SandboxAddresses, writeSettings } from '../../src/sandbox/settings-files.ts'

const everySecond = '* * * * * *'

/** Ticks of seconds, so that all is at rest soon after a fault; the rest of the day's work comes up in minutes, too. */
const schedule = {
  scan: everySecond,
  poll: everySecond,
  sweep: everySecond,
  backfill: '*/2 * * * * *',
  seal: '*/10 * * * * *',
  balances: '*/20 * * * * *',
  audit: '*/30 * * * * *',
  pollOverlap: '10m',
  // That the service is read again shows that work goes on, also where nothing is under way.
  pollQuiet: '2s',
}

/** Only what never comes is late: a fault must not decide by its length what stands in the books in the end. */
const policy = {
  webhookWithin: '1h',
  apiWithin: '1h',
  chainWithin: '1h',
  reportWithin: '1h',
  settlementWithin: '1h',
}

/** Of the daemons of a world. */
export function writeWorldSettings(addresses: SandboxAddresses): Record<string, string> {
  const environment = writeSettings({ ...addresses, policy })
  const path = environment.DEPOSITD_CONFIG ?? ''
  const file = parse(readFileSync(path, 'utf8')) as object
  writeFileSync(path, stringify({ ...file, schedule }))
  return environment
}
