//! What holds for every operation.

mod cross_origin_and_compression;
mod health_metrics_reference;
mod lenient_input;
mod metering;
mod order_of_checks;
mod rates_and_quotas;
mod sizes_times_concurrency;
mod trial;
