import { gauge } from './declare.ts'
import { assets, networks } from './label-values.ts'

/** Accounts by prefix. The subject of an account is never a label. */
export const accountClasses = [
  'in_transit',
  'forwarded',
  'stable_wallet',
  'receivable',
  'conversion',
  'fees',
  'tolerance',
  'write_off',
  'deposits',
  'suspense',
] as const

/** The labels of balances; an account without a class is `other`. */
export const shownAccounts = [...accountClasses, 'other'] as const

const ofAsset = { labels: { asset: assets }, unit: 'units' } as const

export const ofBooks = {
  assetInfo: gauge('asset_info', 'Always 1; the labels name the network and the symbol of an asset.', {
    labels: { asset: assets, network: networks, symbol: { set: 'symbol', upTo: 64 } },
    unit: 'flag',
  }),
  ledgerBalance: gauge(
    'ledger_balance',
    'Balance of the books by what accounts are for, in units of the asset, debit balances positive; approximate.',
    { labels: { account: shownAccounts, network: networks, asset: assets }, unit: 'units' },
  ),
  ledgerImbalance: gauge(
    'ledger_imbalance',
    'Sum of all entries of an asset; anything but 0 is an emergency.',
    ofAsset,
  ),
  ledgerUntied: gauge(
    'ledger_untied',
    'What the audit found wrong in the books of an asset beside their sum, in units of the asset: in_transit, left of deposits that are closed; tie_out, not agreeing with proved balances.',
    { labels: { control: ['in_transit', 'tie_out'], asset: assets }, unit: 'units' },
  ),
  ledgerSealAge: gauge(
    'ledger_seal_age_seconds',
    'How long the oldest unsealed journal has waited for a seal; 0 if all are sealed.',
  ),
}
