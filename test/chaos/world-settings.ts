import { readFileSync, writeFileSync } from 'node:fs'
import { parse, stringify } from 'yaml'
import { type SandboxAddresses, writeSettings } from '../../src/sandbox/settings-files.ts'
import { patientPolicy } from '../support/patient-policy.ts'

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

/** Of the daemons of a world. */
export function writeWorldSettings(addresses: SandboxAddresses): Record<string, string> {
  // A fault must not decide by its length what stands in the books in the end.
  const environment = writeSettings({ ...addresses, policy: patientPolicy })
  const path = environment.DEPOSITD_CONFIG ?? ''
  const file = parse(readFileSync(path, 'utf8')) as object
  writeFileSync(path, stringify({ ...file, schedule }))
  return environment
}
