import { randomBytes } from 'node:crypto'
import { run } from '../../src/cli/run.ts'
import { parseAmount } from '../../src/core/money.ts'
import type { CommandName } from './commands.ts'

/**
 * What the suite is lent by `bin/depositd service` on its local chains: `--lend 'node test/conformance/lend.ts'`, in the
 * folder where the service was started. Its first word says what is wanted, and the others are those of the command.
 */
const [name = '', ...words] = process.argv.slice(2)

/** Here a network, an asset and an amount mean what they mean to the command line of the program. */
function depositd(command: string, names: readonly string[]): Promise<number> {
  const options = names.flatMap((option, place) => [`--${option}`, words[place] ?? ''])
  const { stdout, stderr } = process
  return run({ arguments: ['service', command, ...options], environment: {}, stdout, stderr })
}

/** The calls that the interface does not show. */
async function call(method: 'POST' | 'PUT', path: string, body: object): Promise<number> {
  const { CONFORMANCE_URL: url = '', CONFORMANCE_KEY: key = '' } = process.env
  const headers = { 'X-API-KEY': key, 'content-type': 'application/json' }
  const answer = await fetch(url + path, { method, headers, body: JSON.stringify(body) })
  const text = await answer.text()
  process[answer.ok ? 'stdout' : 'stderr'].write(`${text}\n`)
  return answer.ok ? 0 : 1
}

const commands: Record<CommandName, () => Promise<number>> = {
  pay: () => depositd('pay', ['network', 'asset', 'amount', 'to']),
  balance: () => depositd('balance', ['network', 'asset', 'address']),
  hold: () => call('PUT', `/v1/channels/${words[0]}/policy`, { hold: true }),
  withdraw: () => {
    const [wallet, network, amount = '', recipient] = words
    const id = `withdrawal-${randomBytes(8).toString('hex')}`
    const units = parseAmount(amount, 6).toString()
    return call('POST', `/v1/stable-wallets/${wallet}/withdrawals`, { id, network, recipient, amount: units })
  },
  webhook: () => call('POST', '/v1/webhook-endpoints', { url: words[0] }),
}

function isKnown(text: string): text is CommandName {
  return Object.keys(commands).includes(text)
}

if (isKnown(name)) process.exitCode = await commands[name]()
else {
  process.stderr.write(`lend: there is no ${name}\n`)
  process.exitCode = 2
}
