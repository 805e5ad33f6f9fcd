-- A forward or a refund that is reverted time after time is no longer tried: a person decides.
alter table service.deposit
  drop constraint deposit_reason,
  add constraint deposit_reason check (
    case
      when status = 'failed' then coalesce(reason in ('vanished', 'too_small'), false)
      when status = 'held' then coalesce(
        reason in (
          'policy_hold', 'below_minimum', 'asset_denied', 'sender_denied', 'sender_unknown', 'undeliverable'), false)
      when status in ('refunding', 'refunded') then coalesce(
        reason in ('below_minimum', 'asset_denied', 'sender_denied', 'requested'), false)
      else reason is null
    end),
  -- What is held was not delivered.
  add constraint deposit_held check ((status = 'held') <= (to_transaction is null));
