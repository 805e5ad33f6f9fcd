import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { textOf } from '../grafana/files.ts'
import { isInstalled } from './programs-needed.ts'

export const amtoolInstalled = (): boolean => isInstalled('amtool')

/** Runs amtool to its end and gives its exit status with all that it said. */
export function runAmtool(...words: readonly string[]): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync('amtool', words, { encoding: 'utf8' })
  return { status, said: stdout + stderr }
}

/**
 * A copy of a configuration for the Alertmanager of Debian, 0.25, which does not know `url_file` of a webhook: that has the
 * address itself in its place. Messages go to this address, below it `/chat`, `/pager` and `/watchdog`, after a second in
 * which a group gathers, and again two seconds after it has changed.
 */
export function configurationForDebian(file: string, address: string): { path: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'depositd-amtool-'))
  const path = join(folder, 'alertmanager.yml')
  const text = textOf(file)
    .replace(/^( +- )url_file: .*$/m, `$1url: ${address}/watchdog`)
    .replaceAll('/run/secrets/', `${folder}/`)
    .replaceAll(/group_wait: \d+s/g, 'group_wait: 1s')
    .replaceAll(/group_interval: \d+m/g, 'group_interval: 2s')
  writeFileSync(path, `global: { pagerduty_url: '${address}/pager' }\n${text}`)
  writeFileSync(join(folder, 'chat_url'), `${address}/chat`)
  writeFileSync(join(folder, 'pagerduty_key'), 'key')
  return { path, remove: () => rmSync(folder, { recursive: true }) }
}
