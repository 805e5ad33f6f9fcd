import type { Command } from 'commander'
import { type Amount, parseAmount } from '../../core/money.ts'
import {
  type Act,
  badValue,
  parsedOption,
  priceDecimals,
  ranged,
  subcommand,
  timeOption,
} from '../options.ts'

const waits = { min: 0, max: 86_400 }
const samples = { min: 10, max: 10_000 }

export function describeOnboard(program: Command, act: Act): void {
  const what =
    'connect a service of any shape, step by step: find its calls, its webhooks and its profile, prove them, import its addresses, and activate it; run again to continue'
  subcommand(program, 'onboard <service>', what)
    .option('--url <url>', 'address of the service; not for the one that SERVICE_URL names')
    .option('--auth <yaml>', "section auth, like '{ header: X-Token, secret: SERVICE_API_ACME_KEY }'")
    .option('--list <path>', 'path of the call that lists deposits, if it is not found')
    .option('--public-keys <path>', 'PEM file or JWKS with the public keys that verify webhooks')
    .addOption(
      timeOption('--since <time>', 'read addresses from this time on; earlier deposits are not covered'),
    )
    .addOption(
      parsedOption(
        '--price <amount>',
        'of a million calls of nodes: the estimate of --since shows the cost',
        priceOf,
      ),
    )
    .addOption(ranged('--wait <seconds>', 'for webhooks, and for the daemon', waits).default(600))
    .addOption(
      ranged('--records <count>', 'records to infer, prove and try the profile with', samples).default(200),
    )
    .option('--yes', 'agree to every step')
    .action(act(async () => (await import('./onboard.ts')).onboardCommand))
}

function priceOf(name: string, text: string): Amount {
  try {
    return parseAmount(text, priceDecimals)
  } catch {
    throw badValue(name, text, `give an amount with at most ${priceDecimals} decimals, like 5 or 0.45`)
  }
}
